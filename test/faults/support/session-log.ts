import { isKnownEvent, type RecordedEvent } from '@jetloop/contracts';
import type { JetloopClient } from '@jetloop/client';

/** All events of a session, as the journal has them now. */
export async function logOf(client: JetloopClient, session: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const { event } of client.events(session, { follow: false })) if (isKnownEvent(event)) events.push(event);
  return events;
}

/** Fields that hold times, or the folder. */
const RUNS_OWN = new Set(['durationMs', 'firstTokenMs', 'expiresAt', 'until', 'workspace']);

/** The log without what may differ between two runs of the same turn: times, generated ids, its folder, and which delivery it was. */
export function comparable(events: readonly RecordedEvent[], session: string): unknown {
  const text = JSON.stringify(events, (key, value: unknown) =>
    RUNS_OWN.has(key) ? 0 : key === 'attemptId' ? 'attempt' : value,
  );
  return JSON.parse(text.replaceAll(session, 'SESSION').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'));
}

/** What is wrong with a log, in words; empty when nothing is. */
export function problemsOf(events: readonly RecordedEvent[]): string[] {
  const problems: string[] = [];
  const report = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  const of = (type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => data as { turn: number; messageId?: string });
  report(
    events.every(({ sequence }, index) => sequence === index),
    'sequences are not contiguous',
  );
  const starts = of('turn.start').map(({ turn }) => turn);
  report(
    starts.every((turn, index) => turn === index + 1),
    `turns are ${starts.join(', ')}`,
  );
  const ends = of('turn.end').map(({ turn }) => turn);
  report(ends.join() === starts.join(), `turns ${starts.join(', ')} began, ${ends.join(', ')} ended`);
  report(of('step.start').length === of('step.end').length, 'steps are not balanced');
  report(of('tool.call').length === of('tool.result').length, 'calls and results are not balanced');
  const queued = of('message.queued').map(({ messageId }) => messageId);
  const disposed = ['user.message', 'steering.message', 'prompt.blocked', 'message.discarded']
    .flatMap(of)
    .map(({ messageId }) => messageId);
  report(new Set(disposed).size === disposed.length, 'a message has two dispositions');
  report(
    [...queued].sort().join() === [...disposed].sort().join(),
    `queued ${queued.length} messages, disposed of ${disposed.length}`,
  );
  return problems;
}
