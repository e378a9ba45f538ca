import { catalogueOf, type Catalogue, type CatalogueInput } from '@jetloop/llm-router';
import { loadModels } from '../input/load-models.js';

type Rules = NonNullable<CatalogueInput['targets'][string]['script']>;

const EDIT = {
  path: 'src/cart.js',
  oldText: 'pieces > 10',
  newText: 'pieces >= 10',
};

/** What the scripted model does, a rule a step: it looks, tests, tries a shortcut that a policy denies, and mends the code. */
const RULES: Rules = [
  {
    match: { step: 1 },
    reply: {
      text: 'I look at the project first.',
      toolCalls: [
        { name: 'glob', arguments: { pattern: '**/*.js' } },
        { name: 'read_file', arguments: { path: 'src/cart.js' } },
        { name: 'read_file', arguments: { path: 'test/cart.test.js' } },
      ],
    },
    usage: { input: 640, output: 58 },
  },
  {
    match: { step: 2 },
    reply: {
      text: 'Now the tests, to see what fails.',
      toolCalls: [{ name: 'bash', arguments: { command: 'node --test' } }],
    },
    usage: { input: 310, cacheRead: 640, output: 31 },
  },
  {
    match: { step: 3 },
    reply: {
      text: 'Ten pieces cost 2000 and the test wants 1800. The shortest way is to change what the test expects.',
      toolCalls: [
        {
          name: 'edit_file',
          arguments: {
            path: 'test/cart.test.js',
            oldText: 'quantity: 10 }]), 1800',
            newText: 'quantity: 10 }]), 2000',
          },
        },
      ],
    },
    usage: { input: 420, cacheRead: 950, output: 74 },
  },
  {
    match: { step: 4 },
    reply: {
      text: 'Denied, and rightly: the test is the contract. The discount begins above ten pieces instead of at ten, so the code is mended.',
      toolCalls: [{ name: 'edit_file', arguments: EDIT }],
    },
    usage: { input: 130, cacheRead: 1370, output: 66 },
  },
  {
    match: { step: 5 },
    reply: { text: 'The tests again.', toolCalls: [{ name: 'bash', arguments: { command: 'node --test' } }] },
    usage: { input: 95, cacheRead: 1500, output: 24 },
  },
  {
    match: { step: 6 },
    reply: {
      text: 'Mended. `discount` compared with `> 10`, so an order of exactly ten pieces got nothing off; it is `>= 10` now. Both tests pass, and the tests are as they were.',
    },
    usage: { input: 240, cacheRead: 1595, output: 52 },
  },
];

const THINKING_MS = 350;
const PIECE_MS = 25;

export interface DemoModel {
  readonly catalogue: Catalogue;
  /** One line for the person who watches. */
  readonly note: string;
}

/** The model of OPENAI_API_KEY where there is one, else a scripted one that says so. */
export async function demoModel(env: NodeJS.ProcessEnv): Promise<DemoModel> {
  if ((env['OPENAI_API_KEY'] ?? '') !== '') {
    const catalogue = await loadModels(undefined, env);
    return { catalogue, note: `model ${catalogue.get('default')?.model ?? ''} by OPENAI_API_KEY` };
  }
  const script = RULES.map((rule) => ({ ...rule, delayMs: THINKING_MS, pieceDelayMs: PIECE_MS }));
  const prices = { input: 0.4, cacheRead: 0.1, output: 1.6 };
  const target = { provider: 'scripted', dialect: 'scripted' as const, model: 'scripted', prices, script };
  return {
    catalogue: catalogueOf({ targets: { default: target } }, 'demo'),
    note: 'the model is scripted, with made-up token counts and prices; everything else is real. OPENAI_API_KEY runs it on a real model.',
  };
}
