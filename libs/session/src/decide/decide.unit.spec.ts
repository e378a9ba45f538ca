import { describe, expect, it } from '@jest/globals';
import { SessionDriver } from '../session-driver.fixture.spec.js';

const given = () => new SessionDriver();

describe('a turn', () => {
  it('of the simplest kind is eight events, in three commits', () => {
    const session = given().create();
    session.prompt('hello');
    session.modelSays({ text: 'hi' });
    expect(session.types()).toEqual([
      'session.created',
      'message.queued',
      'turn.start',
      'user.message',
      'step.start',
      'assistant.message',
      'step.end',
      'turn.end',
    ]);
    expect(session.log).toHaveLength(3);
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'completed' } }]);
    expect(session.outstanding()).toEqual([]);
  });

  it('asks for the tool list once, then for the model, then for each call, then for the model again', () => {
    const session = given().create({ tools: ['*'] });
    session.prompt('fix it');
    expect(session.outstandingNames()).toEqual(['list']);
    session.toolsAre('bash', 'read_file');
    expect(session.outstandingNames()).toEqual(['llm']);
    session.modelSays({ calls: [{ name: 'bash' }] });
    expect(session.outstandingNames()).toEqual(['tool.0']);
    session.toolReturns(0, 'done');
    expect(session.outstandingNames()).toEqual(['llm']);
    session.modelSays({ text: 'fixed' });
    session.prompt('again');
    expect(session.outstandingNames()).toEqual(['list']);
    session.toolsAre('bash', 'read_file');
    expect(session.data('tools.listed')).toHaveLength(1);
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it('runs readonly calls side by side and any other alone, in call order', () => {
    const session = given().create({ tools: ['*'] });
    session.prompt('go');
    session.toolsAre('bash', 'read_file');
    session.modelSays({
      calls: [{ name: 'read_file' }, { name: 'read_file' }, { name: 'bash' }, { name: 'read_file' }],
    });
    expect(session.outstandingNames()).toEqual(['tool.0', 'tool.1']);
    session.toolReturns(1, 'b');
    expect(session.outstandingNames()).toEqual(['tool.0']);
    session.toolReturns(0, 'a');
    expect(session.outstandingNames()).toEqual(['tool.2']);
    session.toolReturns(2, 'c');
    session.toolReturns(3, 'd');
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it.each(['max-tokens', 'content-filter'] as const)(
    'whose answer ended by %s runs none of its calls and ends',
    (finishReason) => {
      const session = given().create({ tools: ['*'] });
      session.prompt('go');
      session.toolsAre('bash');
      session.modelSays({ text: 'part', calls: [{ name: 'bash' }], finishReason });
      expect(session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'not_run' } }]);
      expect(session.data('turn.end')).toEqual([
        { turn: 1, reason: { kind: finishReason === 'max-tokens' ? 'max-tokens' : 'refused' } },
      ]);
    },
  );

  it('whose model call fails ends with the error, and the next prompt runs', () => {
    const session = given().create();
    session.prompt('one');
    session.modelFails('server_error', 'the provider is on fire');
    expect(session.types().slice(-3)).toEqual(['turn.error', 'step.end', 'turn.end']);
    expect(session.data('turn.end')).toEqual([
      { turn: 1, reason: { kind: 'error', step: 1, code: 'server_error', message: 'the provider is on fire' } },
    ]);
    session.prompt('two');
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it('whose model call fails keeps the attempts that were made, for the audit', () => {
    const session = given().create();
    session.prompt('one');
    const { commandId } = session.work('llm').command;
    const error = { code: 'overloaded' as const, message: 'try later', retryable: true };
    const attempts = [
      { attemptId: 'a', target: 't', why: 'primary' as const, outcome: 'error' as const, error, durationMs: 4 },
    ];
    session.reply({ commandId, kind: 'llm', result: { status: 'error', error, cost: 0, attempts } });
    expect(session.data('turn.error')).toMatchObject([{ error: { name: 'Overloaded' }, attempts }]);
  });
});

describe('queueing', () => {
  it('takes a burst while a turn runs into one next turn, in order', () => {
    const session = given().create();
    session.prompt('one');
    for (const text of ['two', 'three', 'four']) session.prompt(text);
    session.modelSays({ text: 'done' });
    expect(session.data('turn.start')).toMatchObject([{ turn: 1 }, { turn: 2, trigger: { kind: 'message' } }]);
    expect(session.data('user.message').slice(1)).toMatchObject(
      ['two', 'three', 'four'].map((text) => ({ turn: 2, content: [{ type: 'text', text }] })),
    );
  });

  it('answers the same message id alike, and refuses it with other content', () => {
    const session = given().create();
    const first = session.prompt('one', { messageId: 'm1' });
    expect(first).toEqual({ status: 'accepted', sequence: 1 });
    expect(session.prompt('one', { messageId: 'm1' })).toEqual(first);
    expect(session.prompt('other', { messageId: 'm1' })).toMatchObject({ status: 'refused', code: 'conflict' });
    expect(session.data('message.queued')).toHaveLength(1);
  });

  it('refuses a second prompt with whenBusy reject, and interrupts with interrupt', () => {
    const session = given().create();
    session.prompt('one');
    expect(session.prompt('two', { whenBusy: 'reject' })).toMatchObject({ status: 'refused', code: 'busy' });
    session.prompt('three', { whenBusy: 'interrupt' });
    expect(session.data('message.queued')[1]).toMatchObject({ interrupts: 1 });
    session.modelFails('aborted', 'aborted');
    expect(session.data('turn.end')).toMatchObject([{ reason: { kind: 'aborted' } }]);
    expect(session.data('turn.error')).toEqual([]);
    expect(session.data('user.message')).toMatchObject([{ turn: 1 }, { turn: 2, content: [{ text: 'three' }] }]);
  });
});

describe('cancel', () => {
  it('on an idle session does nothing and arms nothing', () => {
    const session = given().create();
    expect(session.cancel()).toEqual({ status: 'accepted', sequence: null });
    expect(session.types()).toEqual(['session.created']);
  });

  it('while the model streams keeps the partial answer and ends aborted', () => {
    const session = given().create();
    session.prompt('go');
    session.cancel('enough');
    expect(session.outstandingNames()).toEqual(['abort', 'cancel-1']);
    const { commandId } = { commandId: 'acme.s1.1.1.llm.1' };
    session.reply({
      commandId,
      kind: 'llm',
      result: {
        status: 'error',
        error: { code: 'aborted', message: 'aborted', retryable: false },
        content: [{ type: 'text', text: 'par' }],
        usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, estimated: 'aborted' },
        cost: null,
        attempts: [],
      },
    });
    expect(session.types().slice(-3)).toEqual(['assistant.message', 'step.end', 'turn.end']);
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'aborted', reason: 'enough' } }]);
  });

  it('ends by its timer when no worker answers, and what comes later is late', () => {
    const session = given().create({ tools: ['*'] });
    session.prompt('go');
    session.toolsAre('bash');
    session.modelSays({ calls: [{ name: 'bash' }, { name: 'bash' }] });
    const { commandId } = session.work('tool.0').command;
    session.cancel();
    session.timer('cancel-1');
    expect(session.data('tool.result')).toMatchObject([
      { n: 0, isError: true, error: { code: 'cancelled' } },
      { n: 1, isError: true, error: { code: 'cancelled' } },
    ]);
    expect(session.types().slice(-2)).toEqual(['step.end', 'turn.end']);
    const late = session.reply({
      commandId,
      kind: 'tool',
      result: { status: 'result', content: [], isError: false, durationMs: 1 },
    });
    expect(late).toEqual({ kind: 'late' });
    expect(session.timer('cancel-1')).toEqual({ kind: 'due' });
  });

  it('discards what is queued, first, and what is waiting in an open turn', () => {
    const session = given().create();
    session.seams.add('prompt-submit');
    session.prompt('one', { messageId: 'm1' });
    session.prompt('two', { messageId: 'm2' });
    session.cancel();
    expect(session.types().slice(-4)).toEqual([
      'message.discarded',
      'turn.cancelling',
      'message.discarded',
      'turn.end',
    ]);
    expect(session.data('message.discarded')).toEqual([
      { messageId: 'm2', reason: 'cancelled' },
      { messageId: 'm1', reason: 'cancelled' },
    ]);
  });

  it('settles a call that would go on later, and still waits for the others', () => {
    const session = given().create({ tools: ['*'] });
    session.prompt('go');
    session.toolsAre('read_file');
    session.modelSays({ calls: [{ name: 'read_file' }, { name: 'read_file' }] });
    const { commandId } = session.work('tool.0').command;
    session.cancel();
    const deferred = { until: session.now, reason: 'busy', attempts: [] };
    session.reply({ commandId, kind: 'tool', result: { status: 'deferred', deferred } });
    expect(session.data('turn.end')).toEqual([]);
    session.toolReturns(1, 'the other');
    expect(session.data('tool.result')).toMatchObject([
      { n: 0, error: { code: 'cancelled' } },
      { n: 1, isError: false },
    ]);
    expect(session.data('turn.end')).toHaveLength(1);
  });

  it('spares what began after its asOf', () => {
    const session = given().create();
    const { now } = session;
    session.later(10);
    session.prompt('one');
    session.caller({ kind: 'cancel', commandId: 'x', actor: 'ada', reason: 'late', asOf: now });
    expect(session.data('turn.cancelling')).toEqual([]);
  });
});

describe('policies', () => {
  it('that block the only prompt reject the turn without a model call', () => {
    const session = given().create();
    session.seams.add('prompt-submit');
    session.prompt('drop it all', { messageId: 'm1' });
    expect(session.outstandingNames()).toEqual(['hook.prompt-submit.m1']);
    session.policyAnswers('hook.prompt-submit.m1', { decision: 'block', policy: 'guard', reason: 'destructive' });
    expect(session.types().slice(2)).toEqual(['turn.start', 'policy.decided', 'prompt.blocked', 'turn.end']);
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'rejected', reason: 'destructive' } }]);
  });

  it('that fail at prompt-submit end the turn, and the other messages stay queued', () => {
    const session = given().create();
    session.seams.add('prompt-submit');
    session.prompt('a', { messageId: 'm1' });
    session.prompt('b', { messageId: 'm2' });
    session.policyFails('hook.prompt-submit.m1', 'boom');
    expect(session.types().filter((type) => type.startsWith('turn.'))).toEqual([
      'turn.start',
      'turn.error',
      'turn.end',
      'turn.start',
    ]);
    expect(session.outstandingNames()).toEqual(['hook.prompt-submit.m2']);
  });

  it('that deny a call give it an error result with the reason, and the loop goes on', () => {
    const session = given().create({ tools: ['*'] });
    session.seams.add('pre-tool');
    session.prompt('go');
    session.toolsAre('bash');
    session.modelSays({ calls: [{ name: 'bash', arguments: '{"command":"rm -rf /"}' }] });
    session.policyAnswers('hook.pre-tool.0', { decision: 'deny', policy: 'no-rm', reason: 'rm is not allowed' });
    expect(session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'denied' } }]);
    expect(JSON.stringify(session.data('tool.result'))).toContain('rm is not allowed');
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it('that rewrite arguments change what runs, and the log keeps both', () => {
    const session = given().create({ tools: ['*'] });
    session.seams.add('pre-tool');
    session.prompt('go');
    session.toolsAre('bash');
    session.modelSays({ calls: [{ name: 'bash', arguments: '{"command":"ls"}' }] });
    session.policyAnswers('hook.pre-tool.0', {
      decision: 'allow',
      arguments: { command: 'ls -a' },
      policies: ['all'],
      context: [],
    });
    expect(session.data('tool.call')).toMatchObject([
      { arguments: '{"command":"ls"}', effective: { command: 'ls -a' } },
    ]);
    expect(session.work('tool.0').command).toMatchObject({ effective: { command: 'ls -a' } });
  });
});

describe('steering and injections', () => {
  it('steering during a tool joins before that step ends, and the turn goes on for it', () => {
    const session = given().create();
    session.prompt('go');
    session.steer('mind the tests');
    session.modelSays({ text: 'all done' });
    expect(session.types().slice(-4)).toEqual(['assistant.message', 'steering.message', 'step.end', 'step.start']);
    session.modelSays({ text: 'minded' });
    expect(session.data('turn.end')).toMatchObject([{ turn: 1, reason: { kind: 'completed' } }]);
  });

  it('steering passes the seam of prompts, and a block keeps it out', () => {
    const session = given().create();
    session.prompt('go');
    session.seams.add('prompt-submit');
    session.steer('drop it all');
    session.modelSays({ text: 'done' });
    const [what = ''] = session.outstandingNames();
    expect(what).toMatch(/^hook\.prompt-submit\./);
    session.policyAnswers(what, { decision: 'block', policy: 'guard', reason: 'no' });
    expect(session.data('steering.message')).toEqual([]);
    expect(session.data('turn.end')).toMatchObject([{ reason: { kind: 'completed' } }]);
  });

  it('steering while idle is a prompt; an injection while idle is a turn without a model call', () => {
    const session = given().create();
    session.inject('the build is green');
    expect(session.types().slice(-3)).toEqual(['turn.start', 'context.message', 'turn.end']);
    expect(session.data('context.message')).toMatchObject([{ source: { kind: 'caller' } }]);
    session.steer('go');
    expect(session.data('user.message')).toMatchObject([{ turn: 2, content: [{ text: 'go' }] }]);
  });

  it('steering that waits for a policy beside an unchanged tool list joins before the step, and is asked about once', () => {
    const session = given().create({ tools: ['*'] });
    session.prompt('one');
    session.toolsAre('bash');
    session.modelSays({ text: 'done' });
    session.prompt('two');
    session.seams.add('prompt-submit');
    session.steer('mind the tests');
    const [list = '', hook = ''] = session.outstandingNames();
    expect(list).toBe('list');
    session.toolsAre('bash');
    expect(session.outstandingNames()).toEqual([hook]);
    session.policyAnswers(hook, { decision: 'allow', policies: [], context: [] });
    expect(session.types().slice(-2)).toEqual(['steering.message', 'step.start']);
    expect(session.resent).toEqual([]);
  });

  it('steering of a turn that is cancelled is discarded; what comes while it ends is the next prompt', () => {
    const session = given().create();
    session.prompt('go');
    session.steer('left');
    session.cancel();
    session.steer('right');
    session.timer('cancel-1');
    expect(session.data('message.discarded')).toHaveLength(1);
    expect(session.data('user.message')).toMatchObject([{ turn: 1 }, { turn: 2, content: [{ text: 'right' }] }]);
  });

  it('steering behind a cut answer waits for the next turn', () => {
    const session = given().create();
    session.prompt('go');
    session.steer('mind the tests');
    session.modelSays({ text: 'half of', finishReason: 'max-tokens' });
    expect(session.data('turn.end')).toMatchObject([{ reason: { kind: 'max-tokens' } }]);
    expect(session.data('user.message')).toMatchObject([
      { turn: 1 },
      { turn: 2, content: [{ text: 'mind the tests' }] },
    ]);
  });
});

describe('close', () => {
  it('on an idle session discards what is queued and bars what comes later', () => {
    const session = given().create();
    expect(session.close()).toMatchObject({ status: 'accepted' });
    expect(session.prompt('late')).toMatchObject({ status: 'refused', code: 'closed' });
    expect(session.types()).toEqual(['session.created', 'session.closed']);
  });

  it('in a turn cancels it first, and the session closes with its end', () => {
    const session = given().create();
    session.prompt('go');
    session.prompt('next');
    session.close('shift is over');
    expect(session.types().slice(-2)).toEqual(['turn.cancelling', 'message.discarded']);
    expect(session.prompt('late')).toMatchObject({ code: 'closed' });
    session.timer('cancel-1');
    expect(session.types().slice(-3)).toEqual(['step.end', 'turn.end', 'session.closed']);
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'closed' } }]);
    expect(session.data('session.closed')).toEqual([{ reason: 'shift is over' }]);
  });
});

describe('approvals', () => {
  const asking = () => {
    const session = given().create({ tools: ['*'] });
    session.seams.add('pre-tool');
    session.prompt('go');
    session.toolsAre('bash');
    session.modelSays({ calls: [{ name: 'bash', arguments: '{"command":"deploy"}' }] });
    session.policyAnswers('hook.pre-tool.0', {
      decision: 'ask',
      policy: 'careful',
      question: 'Deploy?',
      expiresInMs: 60_000,
      policies: [],
      context: [],
    });
    return session;
  };

  it('keep the call waiting, with a timer and nothing else outstanding; approved, it runs', () => {
    const session = asking();
    expect(session.outstandingNames()).toEqual(['approval-1-1-0']);
    expect(session.approve('1-1-0', 'approved')).toMatchObject({ status: 'accepted' });
    expect(session.outstandingNames()).toEqual(['tool.0']);
    session.toolReturns(0, 'deployed');
    expect(session.outstandingNames()).toEqual(['llm']);
  });

  it('rejected or expired give an error result that tells the model the truth', () => {
    const rejected = asking();
    rejected.approve('1-1-0', 'rejected', 'not on a Friday');
    expect(rejected.data('tool.result')).toMatchObject([
      { error: { code: 'rejected' }, content: [{ text: 'This call was rejected by ada: not on a Friday.' }] },
    ]);
    const expired = asking();
    expired.timer('approval-1-1-0');
    expect(expired.data('approval.decided')).toMatchObject([{ outcome: 'expired', by: 'timer' }]);
    expect(expired.data('tool.result')).toMatchObject([{ error: { code: 'expired' } }]);
  });

  it('have one outcome: deciding alike again is harmless, deciding otherwise is stale', () => {
    const session = asking();
    const first = session.approve('1-1-0', 'approved');
    expect(session.approve('1-1-0', 'approved')).toEqual({
      status: 'accepted',
      sequence: session.state?.approvals.get('1-1-0')?.sequence,
    });
    expect(first).toEqual(session.approve('1-1-0', 'approved'));
    expect(session.approve('1-1-0', 'rejected')).toMatchObject({ status: 'refused', code: 'stale' });
    expect(session.approve('9-9-9', 'approved')).toMatchObject({ status: 'refused', code: 'not_found' });
    expect(session.data('approval.decided')).toHaveLength(1);
  });

  it('hold for the tool as it was: when it takes something else, the policies are asked again', () => {
    const session = asking();
    session.approve('1-1-0', 'approved');
    expect(session.work('tool.0').command).toMatchObject({ schemaHash: 'bash', attempt: 1 });
    session.toolChanged(0, 'bash v2');
    expect(session.outstandingNames()).toEqual(['hook.pre-tool.0']);
    const first = session.work('hook.pre-tool.0').command.commandId;
    session.policyAnswers('hook.pre-tool.0', { decision: 'allow', policies: [], context: [] });
    expect(session.work('tool.0').command).toMatchObject({ schemaHash: 'bash v2', attempt: 2 });
    session.toolChanged(0, 'bash v3');
    expect(session.work('hook.pre-tool.0').command.commandId).not.toBe(first);
    session.policyAnswers('hook.pre-tool.0', { decision: 'deny', policy: 'careful', reason: 'not this', context: [] });
    expect(session.data('tool.result')).toMatchObject([{ error: { code: 'denied' } }]);
  });

  it('that are open when the turn is cancelled are cancelled with it', () => {
    const session = asking();
    session.cancel();
    expect(session.data('approval.decided')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(session.types().slice(-3)).toEqual(['tool.result', 'step.end', 'turn.end']);
    expect(session.approve('1-1-0', 'approved')).toMatchObject({ code: 'stale' });
  });
});

describe('limits and budgets', () => {
  it.each([
    [0, 0],
    [2, 2],
  ])('maxSteps %i makes %i model calls', (maxSteps, calls) => {
    const session = given().create({ tools: ['*'], limits: { maxSteps } });
    session.prompt('go');
    if (maxSteps > 0) session.toolsAre('bash');
    for (let step = 0; step < calls; step++) {
      session.modelSays({ calls: [{ name: 'bash' }] });
      session.toolReturns(0, 'ok');
    }
    expect(session.data('step.start')).toHaveLength(calls);
    expect(session.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'max-steps' } }]);
  });

  it('a budget of 0 refuses before the first call; an unknown price refuses where cost is budgeted', () => {
    const none = given().create({ budgets: { tokens: 0 } });
    none.prompt('go');
    expect(none.data('turn.end')).toEqual([{ turn: 1, reason: { kind: 'budget-exceeded' } }]);
    const priced = given().create({ budgets: { cost: 1 } });
    priced.prompt('go');
    priced.modelSays({ text: 'one' });
    priced.prompt('again');
    expect(priced.data('turn.end')[1]).toMatchObject({ reason: { kind: 'error', code: 'price_unknown' } });
  });
});

describe('deferred work', () => {
  it('waits for its timer, and the next attempt is the one that is awaited', () => {
    const session = given().create();
    session.prompt('go');
    const { commandId } = session.work('llm').command;
    const until = new Date(Date.parse(session.now) + 60_000).toISOString();
    session.reply({
      commandId,
      kind: 'llm',
      result: { status: 'deferred', deferred: { until, reason: 'rate_limited', attempts: [] } },
    });
    const [timer] = session.outstanding();
    expect(timer).toMatchObject({ kind: 'timer', dueAt: until });
    session.later(60_001);
    expect(session.work('llm').command).toMatchObject({ attempt: 2, commandId: 'acme.s1.1.1.llm.2' });
    expect(session.timer(timer?.kind === 'timer' ? timer.name : '')).toEqual({
      kind: 'due',
      commandId: 'acme.s1.1.1.llm.2',
    });
    session.modelSays({ text: 'at last' });
    expect(session.data('turn.end')).toMatchObject([{ reason: { kind: 'completed' } }]);
  });
});

describe('commands that cannot be carried out', () => {
  it('are refused with a code and leave no commit', () => {
    const session = given();
    expect(session.prompt('hello')).toMatchObject({ status: 'refused', code: 'not_found' });
    session.create();
    const commit = session.log.length;
    expect(session.caller({ kind: 'set-mode', commandId: 'r', actor: 'ada', mode: 'plan' })).toMatchObject({
      status: 'refused',
      code: 'invalid',
    });
    expect(session.log).toHaveLength(commit);
  });
});
