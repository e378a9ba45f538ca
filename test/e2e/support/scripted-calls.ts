import { expect } from '@jest/globals';
import { textOf, type EventData } from '@jetloop/contracts';
import type { TestSession } from './test-session.js';
import type { TestSystem } from './test-system.js';

/** A call of a tool: arguments as a value, or as the raw text that the model wrote. */
export type Call = readonly [name: string, args?: unknown];

/** A target whose model makes calls, all in its first answer. */
export const calls = (...list: Call[]) => ({
  provider: 'scripted',
  dialect: 'scripted' as const,
  model: 'scripted',
  script: [
    { match: { hasToolResult: true }, reply: { text: 'done' } },
    { reply: { toolCalls: list.map(([name, args = {}]) => ({ name, arguments: args })) } },
  ] as never,
});

/** A call of bash. */
export const bash = (command: string, more = {}): Call => ['bash', { command, ...more }];

type Result = EventData<'tool.result'>;

/** Prompts a session, and gives the results of its turn's calls in call order. */
export async function resultsOf(system: TestSystem, session: TestSession): Promise<Result[]> {
  const { messageId, sequence } = await system.client.prompt(session.id, 'go');
  const signal = AbortSignal.timeout(80_000);
  const { reason } = await system.client.turnOf(session.id, messageId, { from: sequence, signal });
  expect(reason).toEqual({ kind: 'completed' });
  return (await session.data('tool.result')).toSorted((a, b) => a.n - b.n);
}

/** What the model is told. */
export const textIn = (result: Result | undefined) => textOf(result?.content ?? []);
