import { describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type HarnessEvent, type HarnessFinished } from '@jetloop/contracts';
import fc from 'fast-check';
import { SessionDriver } from '../session-driver.fixture.spec.js';

type Policy = 'deny' | 'allow_once' | 'ask';

function running(permissionPolicy: Policy = 'deny', more: { maxAttempts?: number } = {}): SessionDriver {
  const session = new SessionDriver().create({ harness: { kind: 'acp', command: 'agent', permissionPolicy, ...more } });
  session.prompt('go');
  return session;
}

const raw = (n: number): HarnessEvent => ({ type: 'harness.raw', data: { source: `frame/${n}`, value: { n } } });
const call = (n: number): HarnessEvent => ({
  type: 'tool.call',
  data: { turn: 1, step: 1, n, callId: `c${n}`, name: 'Read', arguments: '{}', effective: {}, decision: 'allow' },
});
const ask: HarnessEvent = {
  type: 'harness.raw',
  data: {
    source: 'session/request_permission',
    value: { toolCall: { toolCallId: 'c0', title: 'Write' }, options: [] },
  },
};

function events(session: SessionDriver, from: number, list: readonly HarnessEvent[], attempt = 1) {
  const commandId = `acme.s1.1.1.acp.${attempt}`;
  return session.reply({ commandId, kind: 'harness.events', turn: 1, attempt, from, events: [...list] });
}

function finished(session: SessionDriver, more: Partial<HarnessFinished> = {}) {
  const attempt = more.attempt ?? 1;
  return session.reply({
    commandId: `acme.s1.1.1.acp.${attempt}`,
    kind: 'harness.finished',
    turn: 1,
    attempt,
    from: null,
    outcome: 'completed',
    exit: { code: 0, signal: null },
    stderr: '',
    ...more,
  });
}

const logOf = (session: SessionDriver) =>
  session.log.flatMap((commit) => commit.events.map(({ type, data }) => ({ type, data })));

describe('a harness turn', () => {
  it('is one step with one piece of work; its agent needs no list of tools and no model', () => {
    const session = running();
    expect(session.outstandingNames()).toEqual(['acp']);
    expect(session.work('acp').command).toMatchObject({ op: 'run', attempt: 1, commandId: 'acme.s1.1.1.acp.1' });
  });

  it('A26 a harness without a permission policy is refused', () => {
    const parsed = agentSpecSchema.safeParse({ name: 'x', harness: { kind: 'acp', command: 'agent' } });
    expect(parsed.success).toBe(false);
    expect(parsed.error?.issues[0]?.path).toEqual(['harness', 'permissionPolicy']);
  });

  it('A34 batches doubled, swapped, late and of an old attempt make the same log', () => {
    const all = Array.from({ length: 12 }, (_, n) => (n === 3 ? call(0) : raw(n)));
    const undisturbed = running();
    events(undisturbed, 0, all);
    finished(undisturbed, { from: 12 });
    const expected = logOf(undisturbed);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 11 }), { maxLength: 5 });
    fc.assert(
      fc.property(cuts, fc.array(fc.nat()), fc.boolean(), (places, order, old) => {
        const session = running();
        const edges = [0, ...places.toSorted((a, b) => a - b), 12];
        const batches = edges.slice(0, -1).map((from, i) => ({ from, list: all.slice(from, edges[i + 1]) }));
        const toCome: (() => ReturnType<typeof events>)[] = batches.map(
          ({ from, list }) =>
            () =>
              events(session, from, list),
        );
        toCome.push(() => finished(session, { from: 12 }));
        // Some are sent twice, in any order; what comes before its turn comes again.
        const deliveries = [...toCome, ...order.flatMap((n) => toCome[n % toCome.length] ?? [])];
        const shuffled = deliveries.map((one, i) => ({ one, key: order[i % Math.max(1, order.length)] ?? i }));
        let waiting = shuffled.toSorted((a, b) => a.key - b.key).map(({ one }) => one);
        for (let round = 0; waiting.length > 0 && round < 20; round++)
          waiting = waiting.filter((deliver) => deliver().kind === 'gap');
        if (old) expect(events(session, 0, all).kind).toBe('late');
        expect(waiting).toEqual([]);
        expect(logOf(session)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('A34 events of an attempt before are ignored', () => {
    const session = running('deny', { maxAttempts: 2 });
    events(session, 0, [raw(0), call(0)]);
    finished(session, { from: 2, outcome: 'error', error: { name: 'Transport', code: 'child_gone', message: 'gone' } });
    expect(session.types().slice(-2)).toEqual(['tool.result', 'work.deferred']);
    expect(session.work('acp').command).toMatchObject({ attempt: 2 });
    const before = session.types();
    expect(events(session, 2, [raw(2)])).toEqual({ kind: 'due' });
    expect(session.types()).toEqual(before);
    events(session, 0, [raw(0)], 2);
    finished(session, { from: 1, attempt: 2 });
    expect(session.types().slice(-3)).toEqual(['harness.raw', 'step.end', 'turn.end']);
  });

  it('only a Transport error is tried again, and no more than maxAttempts', () => {
    const session = running('deny', { maxAttempts: 2 });
    finished(session, { outcome: 'error', error: { name: 'Protocol', code: 'version', message: 'version 0' } });
    expect(session.data('turn.error')).toEqual([
      { turn: 1, step: 1, error: { name: 'Protocol', code: 'version', message: 'version 0' } },
    ]);
    expect(session.types().slice(-3)).toEqual(['turn.error', 'step.end', 'turn.end']);
  });

  it('calls that are open at the end get their interrupted result, once', () => {
    const session = running();
    const result: HarnessEvent = {
      type: 'tool.result',
      data: { turn: 1, step: 1, n: 0, callId: 'c0', content: [], isError: false, durationMs: 1 },
    };
    events(session, 0, [call(0), call(1), result]);
    finished(session, { from: 3 });
    expect(session.data('tool.result')).toMatchObject([
      { n: 0, isError: false },
      { n: 1, isError: true, error: { code: 'interrupted' } },
    ]);
  });

  it.each([
    ['completed', { kind: 'completed' }],
    ['max-tokens', { kind: 'max-tokens' }],
    ['max-steps', { kind: 'max-steps' }],
    ['refused', { kind: 'refused' }],
    ['aborted', { kind: 'aborted', reason: 'the agent cancelled the turn itself' }],
  ] as const)('A5 %s ends the turn so, and the next prompt runs', (outcome, reason) => {
    const session = running();
    finished(session, { outcome });
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason }]);
    session.prompt('again');
    expect(session.outstandingNames()).toEqual(['acp']);
  });

  it('A29 under ask a permission becomes an approval: decided once, expired by its timer, cancelled with its attempt', () => {
    const session = running('ask');
    events(session, 0, [raw(0), ask, ask, ask]);
    const ids = session.data('approval.requested').map((data) => (data as { approvalId: string }).approvalId);
    expect(ids).toEqual(['1-1-acp-1-1', '1-1-acp-1-2', '1-1-acp-1-3']);
    expect(session.data('approval.requested')[0]).not.toHaveProperty('policyVersion');
    expect(session.outstandingNames()).toEqual(['acp', ...ids.map((id) => `approval-${id}`)]);
    expect(session.approve(ids[0] ?? '', 'approved')).toMatchObject({ status: 'accepted' });
    expect(session.approve(ids[0] ?? '', 'rejected')).toMatchObject({ code: 'stale' });
    session.timer(`approval-${ids[1] ?? ''}`);
    finished(session, { from: 4 });
    expect(session.data('approval.decided').map((data) => (data as { outcome: string }).outcome)).toEqual([
      'approved',
      'expired',
      'cancelled',
    ]);
    expect(session.types().slice(-3)).toEqual(['approval.decided', 'step.end', 'turn.end']);
  });

  it('A32 steering and injections are refused while the agent runs, and leave no commit', () => {
    const session = running();
    const commits = session.log.length;
    for (const outcome of [session.steer('left'), session.inject('a fact')]) {
      expect(outcome).toMatchObject({ status: 'refused', code: 'invalid' });
      expect(JSON.stringify(outcome)).toContain('CapabilityNotSupported {primitive: inject_message}');
    }
    expect(session.log).toHaveLength(commits);
    finished(session);
    expect(session.steer('left')).toMatchObject({ status: 'accepted' });
  });

  it('a cancel waits for the bridge, 30 s at most, and always ends aborted', () => {
    for (const end of ['finished', 'failed', 'timer'] as const) {
      const session = running();
      events(session, 0, [call(0)]);
      session.cancel();
      const cancelled = Date.parse(session.now);
      const timer = session.outstanding().find((work) => work.kind === 'timer');
      expect(timer?.kind === 'timer' && Date.parse(timer.dueAt) - cancelled).toBe(30_000);
      events(session, 1, [raw(1)]);
      if (end === 'timer') session.timer('cancel-1');
      else if (end === 'finished') finished(session, { from: 2 });
      else finished(session, { outcome: 'error', error: { name: 'Harness', code: 'rpc_1', message: 'no' } });
      expect(session.data('turn.error')).toEqual([]);
      expect(session.types().slice(-4)).toEqual(['harness.raw', 'tool.result', 'step.end', 'turn.end']);
      expect(session.data('turn.end')).toMatchObject([{ reason: { kind: 'aborted' } }]);
      expect(finished(session).kind).toBe('late');
    }
  });
});
