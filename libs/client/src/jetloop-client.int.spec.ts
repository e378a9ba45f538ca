import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callerCommandSchema, subjects, type CallerCommand, type Commit, type Outcome } from '@jetloop/contracts';
import { applyTopology, Bus, Journal } from '@jetloop/messaging';
import { testServers, type TestServers } from '@jetloop/testing';
import { CommandSender } from './command/command-sender.js';
import { CommandRefusedError, JetloopClient, SessionNotFoundError, type SessionEntry } from './index.js';

let servers: TestServers;
let bus: Bus;
let client: JetloopClient;
let tenant: string;
const stops: (() => void)[] = [];

beforeAll(async () => {
  servers = await testServers();
  tenant = servers.tenant;
  bus = await Bus.connect({ url: servers.natsUrl, name: 'client-test' });
  await applyTopology(bus);
  client = await JetloopClient.connect({ natsUrl: servers.natsUrl, tenant, actor: 'tester' });
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
afterAll(async () => {
  await client.close();
  await bus.close();
  await servers.stop();
});

/** Decides in place of an orchestrator. Undefined: no outcome. */
function decide(
  session: string,
  decision: (command: CallerCommand, delivery: number) => Outcome | undefined,
): CallerCommand[] {
  const received: CallerCommand[] = [];
  const subscription = bus.nats.subscribe(subjects.inbox(tenant, session), {
    callback: (_error, message) => {
      const command = callerCommandSchema.parse(message.json());
      received.push(command);
      const outcome = decision(command, received.length);
      if (outcome) bus.nats.publish(subjects.outcome(tenant, session, command.commandId), JSON.stringify(outcome));
    },
  });
  stops.push(() => {
    subscription.unsubscribe();
  });
  return received;
}

function commitOf(session: string, first: number, count: number): Commit {
  return {
    tenant,
    session,
    causation: `c${first}`,
    actor: 'tester',
    at: new Date(first).toISOString(),
    events: Array.from({ length: count }, (_, index) => ({
      sequence: first + index,
      type: 'step.start',
      version: 1,
      data: { turn: 1, step: first + index },
    })),
  };
}

async function commit(...commits: Commit[]): Promise<void> {
  const journal = new Journal(bus);
  for (const one of commits) await journal.commit(one, await journal.last(tenant, one.session));
}

describe('commands', () => {
  it('gives the sequence of the event that accepted the prompt', async () => {
    const received = decide('s-accept', () => ({ status: 'accepted', sequence: 7 }));
    const accepted = await client.prompt('s-accept', 'Hello', { messageId: 'm1' });
    expect(accepted).toEqual({ session: 's-accept', messageId: 'm1', sequence: 7 });
    expect(received).toMatchObject([
      { kind: 'prompt', actor: 'tester', content: [{ type: 'text', text: 'Hello' }], whenBusy: 'queue' },
    ]);
  });

  it('sends steering and injections as messages with an id', async () => {
    const received = decide('s-steer', () => ({ status: 'accepted', sequence: 4 }));
    expect(await client.steer('s-steer', 'Left', { messageId: 'm1' })).toEqual({
      session: 's-steer',
      messageId: 'm1',
      sequence: 4,
    });
    const { messageId } = await client.inject('s-steer', [{ type: 'text', text: 'A fact' }]);
    expect(received).toMatchObject([
      { kind: 'steer', messageId: 'm1', content: [{ type: 'text', text: 'Left' }] },
      { kind: 'inject', messageId, content: [{ type: 'text', text: 'A fact' }] },
    ]);
    await expect(client.steer('s-steer', ' ')).rejects.toMatchObject({ code: 'invalid' });
    await expect(client.inject('s-steer', 'x', { messageId: 'a.b' })).rejects.toMatchObject({ code: 'invalid' });
    expect(received).toHaveLength(2);
  });

  it('closes a session, and decides approvals', async () => {
    const received = decide('s-decide', (command) =>
      command.kind === 'approval.decide' && command.outcome === 'approved'
        ? { status: 'refused', code: 'stale', message: 'Decided before.' }
        : { status: 'accepted', sequence: 9 },
    );
    expect(await client.closeSession('s-decide', { reason: 'done' })).toBe(9);
    expect(await client.decideApproval('s-decide', 'a1', 'rejected', { note: 'no' })).toBe(9);
    await expect(client.decideApproval('s-decide', 'a1', 'approved')).rejects.toMatchObject({ code: 'stale' });
    expect(received).toMatchObject([
      { kind: 'close', reason: 'done' },
      { kind: 'approval.decide', approvalId: 'a1', outcome: 'rejected', note: 'no' },
      { kind: 'approval.decide', approvalId: 'a1', outcome: 'approved' },
    ]);
  });

  it('forks a session and resumes one', async () => {
    const forked = decide('s-forked', () => ({ status: 'accepted', sequence: 0 }));
    expect(await client.fork({ session: 's-origin', sequence: 4 }, { session: 's-forked' })).toEqual({
      session: 's-forked',
      sequence: 0,
    });
    expect(forked).toMatchObject([{ kind: 'fork', from: { session: 's-origin', sequence: 4 } }]);
    const resumed = decide('s-resumed', () => ({ status: 'accepted', sequence: 7 }));
    expect(await client.resume('s-resumed')).toBe(7);
    expect(resumed).toMatchObject([{ kind: 'resume' }]);
    await expect(client.fork({ session: 'a.b', sequence: 0 })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('throws a refusal with its code and when to try again', async () => {
    decide('s-refuse', () => ({ status: 'refused', code: 'full', message: 'Too much.', retryAfterMs: 250 }));
    await expect(client.cancel('s-refuse')).rejects.toMatchObject({
      name: 'CommandRefusedError',
      code: 'full',
      message: 'Too much.',
      retryAfterMs: 250,
    });
  });

  it('sends the very same command again while no outcome comes', async () => {
    const received = decide('s-again', (_command, delivery) =>
      delivery < 3 ? undefined : { status: 'accepted', sequence: 1 },
    );
    const sender = new CommandSender(bus, { outcomeMs: 200, tries: 20 });
    const command = { kind: 'cancel', commandId: 'c1', actor: 'tester', reason: 'why' } as const;
    expect(await sender.send({ tenant, session: 's-again' }, command)).toBe(1);
    // Once more where the third outcome comes late.
    expect(received.length).toBeGreaterThanOrEqual(3);
    for (const each of received) expect(each).toEqual(command);
  });

  it('is unavailable when nobody decides', async () => {
    const sender = new CommandSender(bus, { outcomeMs: 20, tries: 3 });
    const command = { kind: 'cancel', commandId: 'c1', actor: 'tester' } as const;
    await expect(sender.send({ tenant, session: 's-nobody' }, command)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each(['a.b', '*', '', 'x'.repeat(65)])('refuses the session id %j before anything is sent', async (session) => {
    await expect(client.prompt(session, 'Hello')).rejects.toMatchObject({ code: 'invalid' });
    await expect(client.cancel(session)).rejects.toBeInstanceOf(CommandRefusedError);
  });

  it('names the place in an agent spec that does not fit', async () => {
    await expect(client.create({ agent: { spec: { name: 'a', limits: { maxSteps: -1 } } } })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('agent'),
    });
  });
});

describe('events', () => {
  async function take(events: AsyncIterable<SessionEntry>, count: number): Promise<number[]> {
    const sequences: number[] = [];
    for await (const { event } of events) {
      sequences.push(event.sequence);
      if (sequences.length === count) break;
    }
    return sequences;
  }

  it('gives what is there and what comes, contiguous by sequence', async () => {
    await commit(commitOf('s-live', 0, 3));
    const reading = take(client.events('s-live'), 8);
    await commit(commitOf('s-live', 3, 2), commitOf('s-live', 5, 1), commitOf('s-live', 6, 2));
    expect(await reading).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('goes on from a sequence in the middle of a commit', async () => {
    await commit(commitOf('s-from', 0, 3), commitOf('s-from', 3, 3));
    expect(await take(client.events('s-from', { from: 4, follow: false }), 9)).toEqual([4, 5]);
  });

  it('fills a gap of lost announcements from the journal', async () => {
    await commit(commitOf('s-gap', 0, 1));
    const iterator = client.events('s-gap')[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ event: { sequence: 0 } });
    // Announced only after what it follows was lost: the commit before it is in the journal alone.
    await commit(commitOf('s-gap', 1, 1), commitOf('s-gap', 2, 1));
    bus.nats.publish(subjects.feed(tenant, 's-gap'), JSON.stringify(commitOf('s-gap', 9, 1)));
    expect((await iterator.next()).value).toMatchObject({ event: { sequence: 1 } });
    expect((await iterator.next()).value).toMatchObject({ event: { sequence: 2 } });
    await iterator.return?.();
  });

  it('ends when the signal aborts while it waits', async () => {
    await commit(commitOf('s-end', 0, 1));
    const controller = new AbortController();
    const sequences: number[] = [];
    for await (const { event } of client.events('s-end', { signal: controller.signal })) {
      sequences.push(event.sequence);
      setTimeout(() => {
        controller.abort();
      }, 50);
    }
    expect(sequences).toEqual([0]);
  });

  it('says that a session does not exist', async () => {
    await expect(take(client.events('s-unknown'), 1)).rejects.toBeInstanceOf(SessionNotFoundError);
    expect(await client.exists('s-unknown')).toBe(false);
  });
});

it('lists the sessions of its tenant alone, the last active one first', async () => {
  const own = await JetloopClient.connect({ natsUrl: servers.natsUrl, tenant: `${tenant}-list`, actor: 'tester' });
  try {
    expect(await own.sessions()).toEqual([]);
    const of = (one: Commit): Commit => ({ ...one, tenant: `${tenant}-list` });
    const journal = new Journal(bus);
    const first = await journal.commit(of(commitOf('old', 0, 2)), 0);
    await journal.commit(of(commitOf('old', 2, 3)), Number(first));
    await journal.commit(of({ ...commitOf('new', 0, 1), at: new Date(5_000).toISOString() }), 0);
    expect(await own.sessions()).toEqual([
      { session: 'new', commits: 1, last: { sequence: 0, type: 'step.start', at: new Date(5_000).toISOString() } },
      { session: 'old', commits: 2, last: { sequence: 4, type: 'step.start', at: new Date(2).toISOString() } },
    ]);
  } finally {
    await own.close();
  }
});

it('lists a session whose last commit is damaged without its end', async () => {
  await bus.publisher.publish(subjects.log(tenant, 's-broken'), Buffer.from('no json'));
  const found = (await client.sessions()).find(({ session }) => session === 's-broken');
  expect(found).toEqual({ session: 's-broken', commits: 1, last: undefined });
});

it('passes live messages on and leaves out what does not fit', async () => {
  const seen = Promise.withResolvers<string>();
  stops.push(
    client.live(
      's-delta',
      ({ text }) => {
        seen.resolve(text ?? '');
      },
      'delta',
    ),
  );
  await client.exists('s-delta'); // A round trip: the subscription is at the server.
  const subject = subjects.live(tenant, 's-delta', 'delta');
  bus.nats.publish(subject, 'no json');
  bus.nats.publish(subject, JSON.stringify({ kind: 'text' }));
  bus.nats.publish(subject, JSON.stringify({ turn: 1, step: 1, attemptId: 'a', n: 0, kind: 'text', text: 'Hi' }));
  expect(await seen.promise).toBe('Hi');
});
