// One policy in TypeScript that looks at every seam and lets everything pass: `--policies`.
import { definePolicy } from '@jetloop/hook-policy';

export default definePolicy({
  name: 'bench',
  seams: {
    'session-start': () => undefined,
    'prompt-submit': ({ content }) =>
      JSON.stringify(content).includes('DROP DATABASE') ? { decision: 'block', reason: 'Not here.' } : undefined,
    'pre-step': async ({ messages }) =>
      (await messages()).length > 10_000 ? { decision: 'compact' } : { decision: 'none' },
    'pre-tool': ({ arguments: args }) =>
      JSON.stringify(args).includes('secrets') ? { decision: 'deny', reason: 'Not here.' } : undefined,
    'post-tool': ({ result }) =>
      JSON.stringify(result.content).includes('sk-') ? { decision: 'block', feedback: 'Not here.' } : undefined,
    'turn-continuation': () => undefined,
    'pre-compact': () => undefined,
  },
});
