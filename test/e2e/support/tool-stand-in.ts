import { subjects, type ContentBlock } from '@jetloop/contracts';
import type { WireCall } from '@jetloop/testing';
import type { TestSession } from './test-session.js';
import type { TestSystem } from './test-system.js';

/** A call that runs long enough for somebody else to answer it first. */
export function slowCall(id: string): WireCall {
  return { id, name: 'bash', arguments: JSON.stringify({ command: 'sleep 3' }) };
}

/** Answers the first call of a step as a tool runner would, with any content: the first reply is the one that counts. */
export async function answerTool(
  system: TestSystem,
  session: TestSession,
  { turn, step }: { readonly turn: number; readonly step: number },
  content: readonly ContentBlock[],
): Promise<void> {
  const { tenant, bus } = system;
  const deadline = performance.now() + 20_000;
  while (!(await session.data('tool.call')).some((call) => call.turn === turn && call.step === step)) {
    if (performance.now() > deadline) throw new Error('expected a tool call');
  }
  const commandId = `${tenant}.${session.id}.${turn}.${step}.tool.0.1`;
  const result = { status: 'result', content, isError: false, durationMs: 1 };
  const body = Buffer.from(JSON.stringify({ commandId, kind: 'tool', result }));
  await bus.publisher.publish(subjects.reply(tenant, session.id, 'tool'), body);
}
