import { CatalogueError, catalogueOf, parseCatalogue, type Catalogue } from '@jetloop/llm-router';
import { UsageError } from '../usage-error.js';
import { readText } from './read-text.js';

const OPENAI_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'gpt-4.1-mini';

/** Which model target `default` is when no models file is given. */
export const NO_MODEL = [
  'There is no model to run on. Either set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL for another server or model),',
  'or give a models file with --models, which may also hold a scripted model.',
].join('\n');

/**
 * The model targets: of the models file, or one named `default` from OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL.
 * @throws UsageError when a file is wrong, or there is none and no key
 */
export async function loadModels(file: string | undefined, env: NodeJS.ProcessEnv): Promise<Catalogue> {
  try {
    if (file !== undefined) return parseCatalogue(await readText(file, 'models file'), file);
    const hasKey = isSet(env['OPENAI_API_KEY']);
    if (!hasKey && !isSet(env['OPENAI_BASE_URL'])) throw new UsageError(NO_MODEL);
    const target = {
      provider: isSet(env['OPENAI_BASE_URL']) ? 'openai-compatible' : 'openai',
      dialect: 'chat',
      baseUrl: env['OPENAI_BASE_URL'] ?? OPENAI_URL,
      model: env['OPENAI_MODEL'] ?? OPENAI_MODEL,
      ...(hasKey ? { apiKeyEnv: 'OPENAI_API_KEY' } : {}),
    };
    return catalogueOf({ targets: { default: target } }, 'OPENAI_BASE_URL and OPENAI_MODEL');
  } catch (error) {
    if (error instanceof CatalogueError) throw new UsageError(error.message);
    throw error;
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
