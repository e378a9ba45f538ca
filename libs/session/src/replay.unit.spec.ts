import { describe, expect, it } from '@jest/globals';
import {
  eventSchemas,
  isKnownEvent,
  parseCommit,
  plainDecision,
  seams,
  type Commit,
  type DerivedMessage,
  type RecordedEvent,
  type Seam,
  type SeamDecision,
} from '@jetloop/contracts';
import fc from 'fast-check';
import { decide, type SessionCommand } from './decide/decide.js';
import { deriveMessages } from './messages/derive-messages.js';
import { applyCommit } from './evolve/evolve.js';
import { failureReply } from './answers/failure-reply.js';
import { eventsOf, tellings, type Telling } from './harness/harness-tells.fixture.spec.js';
import { awaitedWork } from './work/awaited-work.js';
import { outstanding } from './work/outstanding.js';
import { envelope, SessionDriver } from './session-driver.fixture.spec.js';
import type { SessionState } from './state.js';

/** One thing that can happen to a session; what is not possible at that moment is skipped. */
type Action =
  | { do: 'prompt'; text: string; whenBusy: 'queue' | 'interrupt' }
  | { do: 'cancel' | 'close' }
  | { do: 'steer' | 'inject'; text: string }
  | { do: 'approval'; approve: boolean }
  | { do: 'mode'; mode: string }
  | { do: 'again' | 'late'; pick: number }
  | { do: 'timer' | 'resume' | 'policies-change' | 'child' }
  | {
      do: 'answer';
      pick: number;
      text: string;
      calls: string[];
      told: Telling[];
      cut: boolean;
      fails: boolean;
      follow: number;
    };

/** One time in six. */
const rarely = fc.nat(5).map((n) => n === 0);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('prompt' as const),
      text: fc.string({ unit: 'grapheme' }),
      whenBusy: fc.constantFrom('queue', 'interrupt'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('timer' as const, 'resume' as const, 'policies-change' as const, 'child' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('steer' as const, 'inject' as const), text: fc.string() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('approval' as const), approve: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom('plan', 'act') }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('again' as const, 'late' as const), pick: fc.nat(1_000) }),
  },
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      pick: fc.nat(5),
      text: fc.string({ unit: 'grapheme' }),
      calls: fc.array(fc.constantFrom('bash', 'read_file', 'nonsense', 'todo_write', 'ask_user', 'spawn_agent'), {
        maxLength: 4,
      }),
      told: fc.array(fc.constantFrom(...tellings), { minLength: 1, maxLength: 6 }),
      cut: rarely,
      fails: rarely,
      // Two times in eight.
      follow: fc.nat(7).map((n) => Math.max(0, n - 5)),
    }),
  },
);

function play(session: SessionDriver, step: Action): void {
  switch (step.do) {
    case 'prompt':
      session.prompt(step.text || 'x', { whenBusy: step.whenBusy });
      return;
    case 'steer':
    case 'inject':
      session[step.do](step.text || 'x');
      return;
    case 'cancel':
    case 'close':
      session[step.do]();
      return;
    case 'approval':
      for (const id of session.openApprovals()) session.approve(id, step.approve ? 'approved' : 'rejected');
      return;
    case 'mode':
      session.setMode(step.mode);
      return;
    case 'again':
      session.redelivers(step.pick);
      return;
    case 'late':
      session.repliesLate(step.pick);
      return;
    case 'timer':
      session.later(3_000);
      for (const work of session.outstanding()) if (work.kind === 'timer') session.timer(work.name);
      return;
    case 'resume':
      session.resume();
      return;
    case 'policies-change':
      session.policyVersion += 'x';
      return;
    case 'child':
      session.childEnds('from the child');
      return;
    case 'answer':
      answer(session, step);
  }
}

const controlArguments: Record<string, string> = {
  todo_write: '{"items":[{"text":"a","status":"done"}]}',
  ask_user: '{"question":"which?"}',
  spawn_agent: '{"agent":"other","prompt":"do it"}',
};

function answer(session: SessionDriver, step: Extract<Action, { do: 'answer' }>): void {
  const { pick, text, calls, cut, fails, follow } = step;
  const awaited = [...session.awaited(), ...(session.asked ? [session.asked] : [])];
  const work = awaited[pick % Math.max(1, awaited.length)];
  if (!work) return;
  const { what } = work.command;
  if (work.kind === 'acp') externalAgent(session, step);
  else if (what === 'list') session.toolsAre('bash', 'read_file', 'todo_write', 'ask_user', 'spawn_agent');
  else if (work.kind === 'llm' && fails) session.modelFails(cut ? 'context_overflow' : 'server_error', text, what);
  else if (work.kind === 'llm') {
    session.modelSays(
      {
        text,
        calls: what === 'compact' ? [] : calls.map((name) => ({ name, arguments: controlArguments[name] ?? '{}' })),
        ...(cut ? { finishReason: 'max-tokens' as const } : {}),
      },
      what,
    );
  } else if (cut && work.kind === 'tool' && work.command.op === 'call' && work.command.schemaHash !== undefined)
    session.toolChanged(work.command.n, text);
  else if (work.kind === 'tool') session.toolReturns(Number(what.slice(5)), text, fails);
  else if (fails) session.policyFails(what, text);
  else {
    const last = policyAnswer(work.command.subject.seam, text, cut);
    const first = follow > 0 ? plainDecision(work.command.subject.seam) : last;
    session.policyAnswers(what, first, hookRuns(text), (seam, index) => {
      if (index >= follow) return undefined;
      return index === follow - 1 ? policyAnswer(seam, text, cut) : plainDecision(seam);
    });
  }
}

const outcomes = ['completed', 'max-tokens', 'max-steps', 'refused', 'aborted'] as const;

/** An external agent tells of more, or its attempt is over: so or so, or it broke off. */
function externalAgent(
  session: SessionDriver,
  { pick, text, told, cut, fails }: Extract<Action, { do: 'answer' }>,
): void {
  if (fails && cut)
    session.harnessEnds({ outcome: 'error', error: { name: 'Protocol', code: 'version', message: text } });
  else if (fails) session.harnessEnds({ outcome: outcomes[pick % outcomes.length] ?? 'completed' });
  else if (cut) session.harnessEnds({ outcome: 'error', error: { name: 'Transport', code: 'gone', message: text } });
  else {
    const events = eventsOf(session, told, text);
    if (events.length > 0) session.harnessTells(events);
  }
}

/** What an external hook left, if one ran. */
const hookRuns = (text: string) =>
  text.length % 3 === 0 ? [{ hook: 'p', status: 'ok', startedAt: '2026-01-01T00:00:00.000Z', durationMs: 3 }] : [];
const said = (text: string) => [{ policy: 'p', content: [{ type: 'text' as const, text: text || 'note' }] }];

/** One of the decisions of a seam. */
function policyAnswer(seam: Seam, text: string, strict: boolean): SeamDecision {
  const policy = 'p';
  const context = text.length % 2 === 0 ? [] : said(text);
  switch (seam) {
    case 'session-start':
      return { decision: 'none', context };
    case 'prompt-submit':
      return strict
        ? { decision: 'block', policy, reason: text || 'no' }
        : { decision: 'allow', policies: [], context };
    case 'pre-step':
      return strict ? { decision: 'compact', policy, context } : { decision: 'none', context };
    case 'pre-tool':
      if (strict) return { decision: 'deny', policy, reason: text || 'no', context };
      return text.length % 3 === 0
        ? { decision: 'ask', policy, policies: [], context }
        : { decision: 'allow', policies: [], context };
    case 'post-tool':
      return strict
        ? { decision: 'block-result', policy, feedback: text || 'no', context }
        : { decision: 'accept', policies: [], context };
    case 'turn-continuation':
      if (!strict) return { decision: 'stop', policy };
      return text.length % 2 === 0 ? { decision: 'continue', policy } : { decision: 'continue', policy, reason: text };
    case 'pre-compact':
      return strict
        ? { decision: 'block', policy, reason: text || 'no' }
        : { decision: 'allow', policies: [], context };
  }
}

/** An external agent that drives the turns in place of the loop. */
const harness = fc.record({
  kind: fc.constant('acp' as const),
  command: fc.constant('agent'),
  permissionPolicy: fc.constantFrom('deny' as const, 'allow_once' as const, 'ask' as const),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
});

const scripts = fc.record({
  actions: fc.array(action, { minLength: 1, maxLength: 90, size: 'max' }),
  seams: fc.subarray([...seams]),
  maxSteps: fc.nat(12),
  harness: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: harness }),
  closes: fc.boolean(),
  fork: fc.option(fc.record({ after: fc.nat(60), sequence: fc.nat(200) })),
});
type Script = typeof scripts extends fc.Arbitrary<infer S> ? S : never;

/** `together`: whether questions that follow are answered with the first one. */
function played({ actions, seams: asked, maxSteps, harness, closes, fork }: Script, together = true): SessionDriver {
  let session = new SessionDriver();
  session.together = together;
  for (const seam of asked) session.seams.add(seam);
  const limits = { limits: { maxSteps }, budgets: { tokens: 1_500 }, deadlines: { turn: 600_000 } };
  const modes = ['plan', 'act'].map((id) => ({ id, name: id }));
  session.create({ ...limits, modes, ...(harness ? { harness } : { tools: ['*'] }) });
  for (const [index, step] of actions.entries()) {
    if (index === fork?.after) session = session.fork(fork.sequence % (session.state?.nextSequence ?? 1));
    play(session, closes && index === 20 ? { do: 'close' } : step);
  }
  return session;
}
const sessions = scripts.map((script) => played(script));

const replay = (log: readonly Commit[]) => log.reduce<SessionState | undefined>(applyCommit, undefined);
const elsewhere = (log: readonly Commit[]) => log.map((commit) => parseCommit(JSON.parse(JSON.stringify(commit))));

describe('a log', () => {
  it('is generated with events of every type, and with external agents that tell of much in one step', () => {
    const held = new Set<string>();
    let most = 0;
    for (const session of fc.sample(sessions, { numRuns: 300, seed: 1 })) {
      const said = new Map<string, number>();
      for (const event of recordedOf(session)) {
        held.add(event.type);
        if (event.type !== 'assistant.message' || !session.state?.agent.harness) continue;
        const step = `${event.data.turn}.${event.data.step}`;
        said.set(step, (said.get(step) ?? 0) + 1);
      }
      most = Math.max(most, ...said.values());
    }
    expect(Object.keys(eventSchemas).filter((type) => !held.has(type))).toEqual([]);
    expect(most).toBeGreaterThan(5);
  });

  it('L35 replayed elsewhere derives identical messages and the same next decision at every prefix', () => {
    const next: SessionCommand = {
      from: 'caller',
      command: {
        kind: 'prompt',
        commandId: 'next',
        actor: 'ada',
        messageId: 'next',
        content: [{ type: 'text', text: 'next' }],
        whenBusy: 'queue',
      },
    };
    fc.assert(
      fc.property(sessions, (session) => {
        const copy = elsewhere(session.log);
        let here: SessionState | undefined;
        session.log.forEach((commit, index) => {
          here = applyCommit(here, commit);
          const there = replay(copy.slice(0, index + 1));
          const context = { now: session.now, seams: session.seams, policyVersion: session.policyVersion };
          expect(there).toEqual(here);
          const replies = awaitedWork(here).map((work): SessionCommand => ({
            from: 'worker',
            commandId: `${work.command.commandId}:reply`,
            reply: failureReply(work, 'expired', 'late'),
          }));
          for (const command of [next, ...replies]) {
            expect(JSON.stringify(decide(there, command, envelope, context))).toBe(
              JSON.stringify(decide(here, command, envelope, context)),
            );
          }
          expect(there && outstanding(there, session.now)).toEqual(outstanding(here, session.now));
          const messages = (log: readonly Commit[]) =>
            JSON.stringify(deriveMessages(log.slice(0, index + 1).flatMap(({ events }) => events)));
          expect(messages(copy)).toBe(messages(session.log));
        });
      }),
      { numRuns: 150 },
    );
  });

  it('is the same whether policies answer what follows with the question before or by itself', () => {
    // What comes again is picked by its place in the log, which is shorter where more is answered at once.
    const once = ({ do: what }: Action) => what !== 'again' && what !== 'late';
    const allAsked = scripts.map((script) => {
      return { ...script, actions: script.actions.filter(once), seams: [...seams], harness: undefined };
    });
    let saved = 0;
    fc.assert(
      fc.property(allAsked, (script) => {
        const together = played(script);
        const apart = played(script, false);
        expect(recordedOf(together)).toEqual(recordedOf(apart));
        saved += apart.log.length - together.log.length;
      }),
      { numRuns: 300 },
    );
    expect(saved).toBeGreaterThan(0);
  });

  it('takes nothing twice: commands and replies that come again, and late replies, add no event', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        expect(session.echoed).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps sequences contiguous, turns and steps balanced, one result per call, one disposition per message', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        const events = session.log.flatMap((commit) => commit.events);
        expect(session.resent).toEqual([]);
        expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => index));
        const count = (type: string) => session.data(type).length;
        const open = session.state?.turn;
        expect(count('turn.start') - count('turn.end')).toBe(open ? 1 : 0);
        expect(count('step.start') - count('step.end')).toBe(open?.phase.at === 'step' ? 1 : 0);
        const results = positions(session, 'tool.result');
        expect(new Set(results).size).toBe(results.length);
        const asked = new Set(positions(session, 'tool.call'));
        expect(results.filter((result) => !asked.has(result))).toEqual([]);
        if (!open) expect(asked.size).toBe(results.length);
        const disposed = ['user.message', 'steering.message', 'context.message', 'prompt.blocked', 'message.discarded']
          .flatMap((type) => session.data(type))
          .map((data) => (data as { messageId?: string }).messageId)
          .filter((messageId) => messageId !== undefined);
        expect(new Set(disposed).size).toBe(disposed.length);
        expect(disposed.length + (session.state?.queue.length ?? 0)).toBe(count('message.queued'));
        const approvals = (type: string) =>
          session.data(type).map((data) => (data as { approvalId: string }).approvalId);
        expect(new Set(approvals('approval.decided')).size).toBe(approvals('approval.decided').length);
        if (!open) expect(approvals('approval.decided').sort()).toEqual(approvals('approval.requested').sort());
        const closed = events.findIndex(({ type }) => type === 'session.closed');
        if (closed >= 0) expect(closed).toBe(events.length - 1);
      }),
      { numRuns: 300 },
    );
  });

  it('never waits for nothing: an open turn has work, a question or a child whose answer moves it on', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        const { turn } = session.state ?? {};
        if (!turn) return;
        const moves = session
          .outstanding()
          .filter((work) => work.kind !== 'timer' || !work.name.startsWith('deadline-'));
        expect({ log: session.types().slice(-6), moves: moves.length > 0 }).toMatchObject({ moves: true });
      }),
      { numRuns: 300 },
    );
  });

  it('ends every compaction that it starts', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        const count = (type: string) => session.data(type).length;
        const running = session.state?.turn?.compaction?.stage === 'running' ? 1 : 0;
        expect(count('compaction.start') - count('compaction.end')).toBe(running);
        expect(count('compaction.summary')).toBeLessThanOrEqual(count('compaction.end'));
      }),
      { numRuns: 300 },
    );
  });

  it('derives messages that a strict provider takes: every call is followed at once by its result', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        expect(pairingProblem(deriveMessages(recordedOf(session)))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('asks a model only where somebody else spoke first and last', () => {
    fc.assert(
      fc.property(sessions, (session) => {
        if (session.state?.agent.harness) return;
        const events = recordedOf(session);
        for (const { type, sequence } of events) {
          if (type !== 'step.start') continue;
          const roles = deriveMessages(events.slice(0, sequence + 1)).map(({ role }) => role);
          expect({ sequence, first: roles[0], last: roles.at(-1) }).toEqual({
            ...{ sequence, first: 'user', last: expect.not.stringMatching('assistant') },
          });
        }
      }),
      { numRuns: 300 },
    );
  });
});

function recordedOf(session: SessionDriver): RecordedEvent[] {
  return session.log.flatMap(({ events }) => events).filter(isKnownEvent);
}

/** Where the calls, or their results, are: an external agent counts anew in each attempt. */
function positions(session: SessionDriver, type: 'tool.call' | 'tool.result'): string[] {
  let attempts = 0;
  return recordedOf(session).flatMap((event) => {
    if (event.type === 'work.deferred' && event.data.what === 'acp') attempts++;
    if (event.type !== type) return [];
    const { turn, step, n } = event.data;
    return [`${turn}.${step}.${n} of ${attempts}`];
  });
}

function pairingProblem(messages: readonly DerivedMessage[]): string | undefined {
  let awaited: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const expected = awaited.shift();
      if (expected !== message.callId) return `result ${message.callId} where ${expected} was due`;
    } else if (awaited.length > 0) return `${message.role} where ${awaited.join(', ')} were due`;
    if (message.role === 'assistant')
      awaited = message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
  }
  return awaited.length > 0 ? `no result of ${awaited.join(', ')}` : undefined;
}
