import { describe, expect, it } from '@jest/globals';
import { plainDecision, type Seam, type SeamDecision } from '@jetloop/contracts';
import { envelope, SessionDriver } from '../session-driver.fixture.spec.js';
import { withFollowingQuestions } from './following-questions.js';

/** A session whose model asked for calls, with policies at these seams; session-start is answered. */
function asked(seams: readonly Seam[], ...calls: string[]): SessionDriver {
  const session = new SessionDriver();
  for (const seam of seams) session.seams.add(seam);
  session.create({ tools: ['*'], modes: ['plan', 'act'].map((id) => ({ id, name: id })) });
  session.prompt('go');
  session.toolsAre('read_file', 'bash');
  if (session.outstandingNames().includes('hook.pre-step.1')) plain(session, 'hook.pre-step.1');
  session.modelSays({ calls: calls.map((name) => ({ name })) });
  return session;
}

function seamOf(what: string): Seam {
  const found = /^hook\.([a-z-]+)/.exec(what)?.[1];
  return found as Seam;
}

const plain = (session: SessionDriver, what: string) => session.policyAnswers(what, plainDecision(seamOf(what)));
const allPlain = (seam: Seam): SeamDecision => plainDecision(seam);
const lastCommit = ({ log }: SessionDriver): string[] => (log.at(-1)?.events ?? []).map(({ type }) => type);

function questionsWith(session: SessionDriver, what: string): string[] {
  const work = session.work(what);
  if (work.kind !== 'hook' || !session.state) throw new Error(`${what} is no question`);
  const context = { now: session.now, seams: session.seams, policyVersion: 'v1' };
  const { following = [] } = withFollowingQuestions(work, session.state, envelope, context).command;
  return following.map(({ commandId }) => commandId.split('.').slice(2).join('.'));
}

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
    const work = session.work('hook.pre-tool.0');
    if (work.kind !== 'hook' || !session.state) throw new Error('expected a question');
    const context = { now: session.now, seams: session.seams, policyVersion: 'v1' };
    const { following = [], subject } = withFollowingQuestions(work, session.state, envelope, context).command;
    const counts = [subject, ...following.map((next) => next.subject)].map(
      (one) => 'callsBefore' in one && one.callsBefore,
    );
    expect(counts).toEqual([0, 1, 2]);
  });

  it('about a call takes no call of a later group along', () => {
    const session = asked(allSeams, 'read_file', 'bash');
    expect(questionsWith(session, 'hook.pre-tool.0')).toEqual([]);
  });

  it('takes along what fits beside it', () => {
    const session = asked([...allSeams], 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'x'.repeat(70_000));
    expect(questionsWith(session, 'hook.post-tool.0')).toEqual([]);
  });

  it('gives what joins the conversation meanwhile to those that come next', () => {
    const session = asked(allSeams, 'bash');
    plain(session, 'hook.pre-tool.0');
    session.toolReturns(0, 'done');
    const work = session.work('hook.post-tool.0');
    if (work.kind !== 'hook' || !session.state) throw new Error('expected a question');
    const context = { now: session.now, seams: session.seams, policyVersion: 'v1' };
    const { following = [] } = withFollowingQuestions(work, session.state, envelope, context).command;
    expect(following.map(({ pending }) => pending.map(({ type, sequence }) => ({ type, sequence })))).toEqual([
      [{ type: 'tool.result', sequence: session.state.nextSequence }],
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

  it('does not count where steering joined before it: the model is about to see more', () => {
    const session = answered((waiting) => {
      waiting.steer('rather this');
    });
    expect(lastCommit(session)).toEqual(['tool.result', 'steering.message', 'step.end', 'policy.decided']);
    expect(session.outstandingNames()).toEqual(['hook.pre-step.2']);
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
});
