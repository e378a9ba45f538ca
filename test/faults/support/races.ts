import { expect } from '@jest/globals';
import type { AcceptedMessage } from '@jetloop/client';
import type { ProcessSystem } from './process-system.js';
import { logOf, problemsOf } from './session-log.js';

const PATIENCE_MS = 60_000;

interface Size {
  readonly sessions: number;
  /** Rounds, or steers, of a session. */
  readonly rounds: number;
}

/** Rounds of two prompts at one instant, and a steer. */
export async function racePrompts(system: ProcessSystem, target: string, { sessions, rounds }: Size): Promise<void> {
  const { client } = system;
  const ids = Array.from({ length: sessions }, (_, index) => `prompts-${index}`);
  const one = async (session: string): Promise<void> => {
    await client.create({ session, agent: system.agent(target) });
    for (let round = 0; round < rounds; round++) {
      await endOfAll(
        system,
        session,
        await Promise.all([
          client.prompt(session, `a${round}`, { messageId: `a${round}` }),
          client.prompt(session, `b${round}`, { messageId: `b${round}` }),
          client.steer(session, `s${round}`, { messageId: `s${round}` }),
        ]),
      );
    }
  };
  await Promise.all(ids.map(one));
  for (const session of ids) await expectWhole(system, session, 3 * rounds);
}

/**
 * A turn of calls; whenever a worker replies, somebody steers at the same instant, so many times. Resolves to the texts
 * of the steers, by session.
 */
export async function raceReplies(
  system: ProcessSystem,
  target: string,
  { sessions, rounds }: Size,
): Promise<Map<string, string[]>> {
  const { client, bus, tenant } = system;
  const ids = Array.from({ length: sessions }, (_, index) => `replies-${index}`);
  const steered = new Map(ids.map((session) => [session, [] as Promise<AcceptedMessage>[]]));
  const allSent = new Promise<void>((resolve) => {
    let left = sessions * rounds;
    const steer = (session: string): void => {
      const sent = steered.get(session);
      if (!sent || sent.length >= rounds) return;
      const text = `${session} steer ${sent.length}.`;
      sent.push(client.steer(session, text, { messageId: `s${sent.length}` }));
      if (--left === 0) resolve();
    };
    for (const worker of ['llm', 'tool'])
      bus.nats.subscribe(`cmd.session.${tenant}.*.${worker}`, {
        callback: (_error, { subject }) => {
          steer(subject.split('.')[3] ?? '');
        },
      });
  });
  const first = await Promise.all(
    ids.map(async (session) => {
      const agent = system.agent(target, { tools: ['list_dir'] });
      return client.create({ session, agent, workspace: system.folder, prompt: session });
    }),
  );
  await allSent;
  await Promise.all(
    first.map(async (created) => {
      const steers = await Promise.all(steered.get(created.session) ?? []);
      await endOfAll(system, created.session, [created, ...steers]);
      await expectWhole(system, created.session, rounds + 1);
    }),
  );
  return new Map(ids.map((session) => [session, Array.from({ length: rounds }, (_, n) => `${session} steer ${n}.`)]));
}

async function endOfAll(
  { client }: ProcessSystem,
  session: string,
  accepted: readonly AcceptedMessage[],
): Promise<void> {
  const from = Math.min(...accepted.map(({ sequence }) => sequence));
  const signal = AbortSignal.timeout(PATIENCE_MS);
  await Promise.all(accepted.map(({ messageId }) => client.turnOf(session, messageId, { from, signal })));
}

/** Nothing lost, nothing double, and every turn completed. */
export async function expectWhole({ client }: ProcessSystem, session: string, messages: number): Promise<void> {
  const log = await logOf(client, session);
  expect({ session, problems: problemsOf(log) }).toEqual({ session, problems: [] });
  expect(log.filter(({ type }) => type === 'message.queued')).toHaveLength(messages);
  const ends = log.flatMap((event) => (event.type === 'turn.end' ? [event.data.reason.kind] : []));
  expect(ends.filter((kind) => kind !== 'completed')).toEqual([]);
}
