import { seams, type AgentSpecInput } from '@jetloop/contracts';

/** Steps of a turn: each one model call and one tool call. The answer that ends the turn comes on top. */
export const STEPS = 10;
/** The one tool call is `read_file` on this file, the least work among the built-in tools that gives a result. */
export const FILE = 'note.txt';
export const FILE_TEXT = `${'All work and no play makes a long note. '.repeat(5).slice(0, 199)}\n`;
export const TENANT = 'bench';

const ANSWER_BYTES = 1_024;
const call = { name: 'read_file', arguments: { path: FILE } };
const text = 'Reading the note once more before the next step. '.repeat(30);

const answers = [
  { match: { step: STEPS + 1 }, reply: { text: 'Done.' } },
  { reply: { text: text.slice(0, ANSWER_BYTES - JSON.stringify(call).length), toolCalls: [call] } },
];
const target = { provider: 'scripted', dialect: 'scripted', model: 'bench-1', prices: { input: 1, output: 4 } };

/** Scripted models: a tool call in each of the steps, then a final answer; one at once, one after a delay (milliseconds). */
export const catalogueOf = (think: number) => ({
  targets: {
    bench: { ...target, script: answers },
    thinking: { ...target, script: answers.map((rule) => ({ ...rule, delayMs: think })) },
  },
});

export const agentOn = (model: 'bench' | 'thinking'): AgentSpecInput => ({
  name: 'bench',
  model: { chain: [model] },
  systemPrompt: 'You read a note.',
  tools: ['read_file'],
});
export const agent = agentOn('bench');

/** One policy in hook-policy's own process, on every seam; it lets all of this pass. */
export const policySet = {
  name: 'bench',
  policies: [{ name: 'bench', seams: [...seams], plugin: 'bench' }],
};
