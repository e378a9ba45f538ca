import { describe, expect, it } from '@jest/globals';
import {
  plainDecision,
  type FollowingQuestion,
  type HookReply,
  type Seam,
  type SeamDecision,
} from '@jetloop/contracts';
import { SessionDriver } from '../session-driver.fixture.spec.js';
import { withFollowingQuestions } from './following-questions.js';

/** A session whose model asked for calls, with policies at these seams; session-start is answered. */
function asked(seams: readonly Seam[], ...calls: (string | { name: string; arguments: string })[]): SessionDriver {
  const session = new SessionDriver();
  for (const seam of seams) session.seams.add(seam);
  session.create({ tools: ['*'], modes: ['plan', 'act'].map((id) => ({ id, name: id })) });
  session.prompt('go');
  session.toolsAre('read_file', 'read_more', 'bash');
  if (session.outstandingNames().includes('hook.pre-step.1')) plain(session, 'hook.pre-step.1');
  session.modelSays({ calls: calls.map((call) => (typeof call === 'string' ? { name: call } : call)) });
  return session;
}

function seamOf(what: string): Seam {
  const found = /^hook\.([a-z-]+)/.exec(what)?.[1];
  return found as Seam;
}

const plain = (session: SessionDriver, what: string) => session.policyAnswers(what, plainDecision(seamOf(what)));
const allPlain = (seam: Seam): SeamDecision => plainDecision(seam);
const lastCommit = ({ log }: SessionDriver): string[] => (log.at(-1)?.events ?? []).map(({ type }) => type);

function followingOf(session: SessionDriver, what: string): readonly FollowingQuestion[] {
  const work = session.work(what);
  if (work.kind !== 'hook' || !session.state) throw new Error(`${what} is no question`);
  const context = { now: session.now, seams: session.seams, policyVersion: 'v1' };
  return withFollowingQuestions(work, session.state, context).command.following ?? [];
}

const questionsWith = (session: SessionDriver, what: string): string[] =>
  followingOf(session, what).map(({ commandId }) => commandId.split('.').slice(2).join('.'));

const allSeams: readonly Seam[] = ['pre-step', 'pre-tool', 'post-tool', 'turn-continuation'];

describe('a question', () => {
  it('about the last result takes along whether the turn goes on, and the one before the next step', () => {
    const session = asked(allSeams, 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'done');
    expect(questionsWith(session, 'hook.post-tool.0')).toEqual([
      '1.1.hook.turn-continuation.1',
      '1.2.hook.pre-step.1.1',
    ]);
    session.policyAnswers('hook.post-tool.0', plainDecision('post-tool'), [], allPlain);
    expect(lastCommit(session)).toEqual(['tool.result', 'step.end', 'policy.decided', 'step.start']);
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it('about a result takes nothing along while another call runs', () => {
    const session = asked(allSeams, 'read_file', 'read_file');
    plain(session, 'hook.pre-tool.0');
    plain(session, 'hook.pre-tool.1');
    session.toolReturns(0, 'done');
    expect(questionsWith(session, 'hook.post-tool.0')).toEqual([]);
  });

  it('about a call takes along the other calls of its group, up to eight', () => {
    const session = asked(allSeams, ...Array<string>(12).fill('read_file'));
    expect(questionsWith(session, 'hook.pre-tool.0')).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `1.1.hook.pre-tool.${n}.1`),
    );
    session.policyAnswers('hook.pre-tool.0', plainDecision('pre-tool'), [], allPlain);
    expect(lastCommit(session)).toEqual(Array(9).fill('tool.call'));
    expect(session.outstandingNames()).toEqual(['hook.pre-tool.9']);
  });

  it('about a call counts the calls that are recorded before each of the others', () => {
    const session = asked(allSeams, 'read_file', 'read_file', 'read_file');
    const following = followingOf(session, 'hook.pre-tool.0');
    expect(following.map(({ subject }) => subject.seam === 'pre-tool' && subject.callsBefore)).toEqual([1, 2]);
  });

  it('about a call takes no call of a later group along', () => {
    const session = asked(allSeams, 'read_file', 'bash');
    expect(questionsWith(session, 'hook.pre-tool.0')).toEqual([]);
  });

  it('takes along no question whose content may be kept outside the log', () => {
    const session = new SessionDriver();
    for (const seam of ['session-start', 'prompt-submit', 'post-tool'] as const) session.seams.add(seam);
    session.create();
    session.prompt('go');
    const [start] = session.outstandingNames();
    expect(start).toMatch(/^hook\.session-start/);
    expect(questionsWith(session, start ?? '')).toEqual([]);
  });

  it.each([
    ['characters', 'x'.repeat(70_000)],
    ['characters of more than a byte', '€'.repeat(25_000)],
  ])('takes along what fits beside it: %s', (_name, text) => {
    const session = asked([...allSeams], 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, text);
    expect(questionsWith(session, 'hook.post-tool.0')).toEqual([]);
  });

  it('takes nothing along that one message would not carry with it', () => {
    const large = { name: 'read_file', arguments: JSON.stringify({ path: 'x'.repeat(600 * 1024) }) };
    expect(questionsWith(asked(allSeams, large, 'read_file'), 'hook.pre-tool.0')).toEqual([]);
    expect(questionsWith(asked(allSeams, 'read_file', 'read_file'), 'hook.pre-tool.0')).toHaveLength(1);
  });

  it('takes nothing along that is asked by itself already', () => {
    const session = asked(allSeams, 'read_file', 'read_more');
    for (const n of [0, 1])
      session.policyAnswers(`hook.pre-tool.${n}`, { decision: 'ask', policy: 'p', policies: [], context: [] });
    for (const id of session.openApprovals()) session.approve(id, 'approved');
    for (const n of [0, 1]) session.toolChanged(n, 'another schema');
    expect(session.awaited().map(({ command }) => command.what)).toEqual(['hook.pre-tool.0', 'hook.pre-tool.1']);
    expect(questionsWith(session, 'hook.pre-tool.0')).toEqual([]);
    expect(questionsWith(session, 'hook.pre-tool.1')).toEqual([]);
  });

  it('gives what joins the conversation meanwhile to those that come next', () => {
    const session = asked(allSeams, 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'done');
    const following = followingOf(session, 'hook.post-tool.0');
    expect(following.map(({ pending }) => pending.map(({ type, sequence }) => ({ type, sequence })))).toEqual([
      [{ type: 'tool.result', sequence: session.state?.nextSequence }],
      [],
    ]);
  });
});

describe('an answer to what follows', () => {
  const answered = (meanwhile: (session: SessionDriver) => void, next = allPlain): SessionDriver => {
    const session = asked(allSeams, 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'done');
    meanwhile(session);
    session.policyAnswers('hook.post-tool.0', plainDecision('post-tool'), [], next);
    return session;
  };

  it('counts, whatever it is, and is the last where it changes something', () => {
    const session = answered(
      () => undefined,
      (seam) => (seam === 'turn-continuation' ? { decision: 'stop', policy: 'p' } : plainDecision(seam)),
    );
    expect(lastCommit(session)).toEqual(['tool.result', 'step.end', 'policy.decided', 'turn.end']);
  });

  it('does not count once the mode is another one: the question is asked again', () => {
    const session = answered((waiting) => {
      waiting.setMode('plan');
    });
    expect(lastCommit(session)).toEqual(['tool.result', 'step.end']);
  });

  it.each(['steer', 'inject'] as const)('does not count where %s joined before it: a policy may read it', (join) => {
    const session = answered((waiting) => {
      waiting[join]('rather this');
    });
    const joined = join === 'steer' ? 'steering.message' : 'context.message';
    expect(lastCommit(session)).toEqual(['tool.result', joined, 'step.end']);
    expect(session.outstandingNames()).toEqual(['hook.turn-continuation']);
  });

  it('does not count once policies want a seam before it', () => {
    const seams: readonly Seam[] = ['pre-step', 'pre-tool', 'post-tool'];
    const session = asked(seams, 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'done');
    expect(questionsWith(session, 'hook.post-tool.0')).toEqual(['1.2.hook.pre-step.1.1']);
    session.seams.add('turn-continuation');
    session.policyAnswers('hook.post-tool.0', plainDecision('post-tool'), [], allPlain);
    expect(lastCommit(session)).toEqual(['tool.result', 'step.end']);
    expect(session.outstandingNames()).toEqual(['hook.turn-continuation']);
  });

  it('does not count once the policies are others than those that gave it: they are asked', () => {
    const session = asked(allSeams, 'read_file', 'read_file');
    session.answeredIn = 'v1';
    session.policyVersion = 'v2';
    session.policyAnswers('hook.pre-tool.0', plainDecision('pre-tool'), [], allPlain);
    expect(lastCommit(session)).toEqual(['tool.call']);
    expect(session.outstandingNames()).toEqual(['hook.pre-tool.1']);
  });

  it('does not count in a turn that is cancelled', () => {
    const session = answered((waiting) => {
      waiting.cancel();
    });
    expect(session.types().filter((type) => type === 'turn.end')).toHaveLength(1);
    expect(session.types()).not.toContain('policy.decided');
  });

  it('that asks a person binds to the version that it was evaluated with', () => {
    const session = asked(allSeams, 'read_file', 'read_file', 'read_file');
    const { commandId } = session.work('hook.pre-tool.0').command;
    const answer = (decision: SeamDecision, policyVersion: string): Omit<HookReply, 'commandId' | 'kind'> => ({
      ...{ seam: 'pre-tool', policyVersion, hooks: [], observed: [] },
      result: { status: 'decided', decision },
    });
    const [second] = followingOf(session, 'hook.pre-tool.0');
    if (!second) throw new Error('expected a question that follows');
    const ask = answer({ decision: 'ask', policy: 'p', policies: [], context: [] }, 'v1');
    const followed = [{ commandId: second.commandId, digest: second.digest, ...ask }];
    session.reply({ commandId, kind: 'hook', ...answer(plainDecision('pre-tool'), 'v0'), followed });
    expect(session.data('approval.requested')).toMatchObject([{ callId: '1-1-1', policyVersion: 'v1' }]);
    expect(session.awaited().map(({ command }) => command.what)).toEqual(['hook.pre-tool.2']);
  });
});
