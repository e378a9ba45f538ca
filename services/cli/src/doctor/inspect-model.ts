import type { Finding } from './finding.js';

/** Whether a run without a models file has a model. The key itself is never shown. */
export function inspectModel(env: NodeJS.ProcessEnv): Finding {
  const baseUrl = env['OPENAI_BASE_URL'] ?? '';
  const hasKey = (env['OPENAI_API_KEY'] ?? '') !== '';
  const where = baseUrl === '' ? '' : `, OPENAI_BASE_URL ${baseUrl}`;
  if (hasKey) return { name: 'model', state: 'ok', detail: `OPENAI_API_KEY is set${where}` };
  if (baseUrl !== '') return { name: 'model', state: 'ok', detail: `no OPENAI_API_KEY${where}` };
  return {
    name: 'model',
    state: 'optional',
    detail: 'OPENAI_API_KEY is not set',
    remedy:
      'set it (and OPENAI_BASE_URL for another server), or give --models FILE; the demo runs on a scripted model without it',
  };
}
