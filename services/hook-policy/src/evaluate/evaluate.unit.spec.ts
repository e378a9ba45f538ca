import { describe, expect, it } from '@jest/globals';
import { RetryableError } from '@jetloop/messaging';
import { seams, type HookReply, type Seam, type SeamSubject } from '@jetloop/contracts';
import { neutralDecisions, type PolicyDecision } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { Policy, SeamContext } from '../policy/policy.js';
import { seamContext } from '../testing/context.js';
import { subjectOf, textBlock } from '../testing/subjects.js';
import { evaluate } from './evaluate.js';

const context = (signal = new AbortController().signal): SeamContext => seamContext({ signal });

type Answer = PolicyDecision | ((subject: SeamSubject) => PolicyDecision | Promise<PolicyDecision>);
const policy = (name: string, answer: Answer, extra: Partial<Policy> = {}): Policy => ({
  name,
  seams: [...seams],
  order: 0,
  mode: 'enforce',
  tenants: ['*'],
  agents: ['*'],
  evaluate: (subject) => Promise.resolve(typeof answer === 'function' ? answer(subject) : answer),
  ...extra,
});
/** A policy that answers with what the types would not let it. */
const wild = (name: string, answer: unknown): Policy =>
  Object.assign(policy(name, { decision: 'none' }), { evaluate: () => Promise.resolve(answer) });
const decisionOf = async (seam: Seam, ...policies: Policy[]): Promise<HookReply['result']> =>
  (await evaluate(policies, subjectOf(seam), context())).result;
const decided = (decision: object): object => ({ status: 'decided', decision });
const said = (policyName: string, ...texts: string[]): object => ({
  policy: policyName,
  content: texts.map(textBlock),
});

const deny = (reason: string): PolicyDecision => ({ decision: 'deny', reason });
const ask = (question?: string, expiresInMs?: number): PolicyDecision => ({
  decision: 'ask',
  ...(question !== undefined && { question }),
  ...(expiresInMs !== undefined && { expiresInMs }),
});
const rewrite = (args: Record<string, string>): PolicyDecision => ({ decision: 'allow', arguments: args });
const allow: PolicyDecision = { decision: 'allow' };

describe('H2 order', () => {
  it('is ascending, then by name, whatever the order they are given in', async () => {
    const ran: string[] = [];
    const note = (name: string, order: number): Policy => policy(name, () => (ran.push(name), allow), { order });
    await decisionOf('pre-tool', note('c', 0), note('b', 5), note('a', 5), note('z', -1));
    expect(ran).toEqual(['z', 'c', 'a', 'b']);
  });

  it('ends with a deny: later policies are not asked', async () => {
    let asked = false;
    const later = policy('later', () => ((asked = true), allow), { order: 1 });
    expect(await decisionOf('pre-tool', policy('first', deny('no')), later)).toEqual(
      decided({ decision: 'deny', policy: 'first', reason: 'no' }),
    );
    expect(asked).toBe(false);
  });

  it('leaves out policies of other seams, tenants and agents', async () => {
    expect(
      await decisionOf(
        'pre-tool',
        policy('seam', deny('x'), { seams: ['post-tool'] }),
        policy('tenant', deny('x'), { tenants: ['other', 'acme-*'] }),
        policy('agent', deny('x'), { agents: ['review*'] }),
        policy('ours', ask('sure?'), { tenants: ['ac*'], agents: ['cod?r'] }),
      ),
    ).toEqual(decided({ decision: 'ask', policy: 'ours', question: 'sure?', policies: [], context: [] }));
  });
});

describe('H2 precedence at pre-tool', () => {
  const table: [string, PolicyDecision[], object][] = [
    ['nobody says anything', [], { decision: 'allow', policies: [], context: [] }],
    ['all allow', [allow, allow], { decision: 'allow', policies: [], context: [] }],
    [
      'a rewrite is stronger than allow',
      [allow, rewrite({ a: '1' })],
      { decision: 'allow', arguments: { a: '1' }, policies: ['p1'], context: [] },
    ],
    [
      'the later rewrite stands on the earlier one',
      [rewrite({ a: '1' }), rewrite({ a: '2' })],
      { decision: 'allow', arguments: { a: '2' }, policies: ['p0', 'p1'], context: [] },
    ],
    [
      'ask is stronger than rewrite, and asks for what was rewritten',
      [ask('sure?'), rewrite({ a: '1' })],
      { decision: 'ask', policy: 'p0', question: 'sure?', arguments: { a: '1' }, policies: ['p1'], context: [] },
    ],
    [
      'questions are joined by a blank line, the shortest time counts',
      [ask('one?', 5000), ask('two?', 3000), ask()],
      { decision: 'ask', policy: 'p0, p1, p2', question: 'one?\n\ntwo?', expiresInMs: 3000, policies: [], context: [] },
    ],
    ['deny is stronger than ask', [ask('sure?'), deny('no')], { decision: 'deny', policy: 'p1', reason: 'no' }],
    [
      'deny is stronger than rewrite',
      [rewrite({ a: '1' }), deny('no')],
      { decision: 'deny', policy: 'p1', reason: 'no' },
    ],
    ['the first deny counts', [deny('one'), deny('two')], { decision: 'deny', policy: 'p0', reason: 'one' }],
  ];
  it.each(table)('%s', async (_name, decisions, expected) => {
    const policies = decisions.map((decision, i) => policy(`p${i}`, decision));
    expect(await decisionOf('pre-tool', ...policies)).toEqual(decided(expected));
  });
});

describe('H2 merging', () => {
  it('adds contexts up in order, each under its policy', async () => {
    const adds = (name: string): Policy => policy(name, { decision: 'none', context: [textBlock(name)] });
    expect(await decisionOf('session-start', adds('b'), adds('a'))).toEqual(
      decided({ decision: 'none', context: [said('a', 'a'), said('b', 'b')] }),
    );
  });

  it('shows each policy what the earlier ones rewrote', async () => {
    const append = (name: string): Policy =>
      policy(name, (subject) => {
        const text =
          subject.seam === 'prompt-submit' && subject.content[0]?.type === 'text' ? subject.content[0].text : '';
        return { decision: 'allow', content: [textBlock(`${text}+${name}`)] };
      });
    expect(await decisionOf('prompt-submit', append('a'), append('b'))).toEqual(
      decided({ decision: 'allow', content: [textBlock('hello+a+b')], policies: ['a', 'b'], context: [] }),
    );
  });

  it('rewrites a result, and blocks it with the contexts so far', async () => {
    const redacts = policy('a', { decision: 'accept', content: [textBlock('***')], context: [textBlock('cut')] });
    expect(await decisionOf('post-tool', redacts)).toEqual(
      decided({ decision: 'accept', content: [textBlock('***')], policies: ['a'], context: [said('a', 'cut')] }),
    );
    expect(
      await decisionOf(
        'post-tool',
        redacts,
        policy('b', { decision: 'block', feedback: 'no', context: [textBlock('why')] }),
      ),
    ).toEqual(
      decided({ decision: 'block-result', policy: 'b', feedback: 'no', context: [said('a', 'cut'), said('b', 'why')] }),
    );
  });

  const continues = (reason?: string): PolicyDecision => ({ decision: 'continue', ...(reason && { reason }) });
  const others: [string, Seam, PolicyDecision[], object][] = [
    [
      'a blocked prompt',
      'prompt-submit',
      [{ decision: 'block', reason: 'no' }],
      { decision: 'block', policy: 'p0', reason: 'no' },
    ],
    ['an allowed prompt', 'prompt-submit', [allow], { decision: 'allow', policies: [], context: [] }],
    ['nothing before a step', 'pre-step', [{ decision: 'none' }], { decision: 'none', context: [] }],
    [
      'compaction',
      'pre-step',
      [{ decision: 'compact' }, { decision: 'compact' }],
      { decision: 'compact', policy: 'p0, p1', context: [] },
    ],
    [
      'continue',
      'turn-continuation',
      [continues('a'), continues(), continues('b')],
      { decision: 'continue', policy: 'p0, p1, p2', reason: 'a\n\nb' },
    ],
    [
      'stop over continue',
      'turn-continuation',
      [continues('a'), { decision: 'stop' }],
      { decision: 'stop', policy: 'p1' },
    ],
    [
      'no compaction',
      'pre-compact',
      [{ decision: 'block', reason: 'no' }],
      { decision: 'block', policy: 'p0', reason: 'no' },
    ],
  ];
  it.each(others)('gives %s at %s', async (_name, seam, decisions, expected) => {
    const policies = decisions.map((decision, i) => policy(`p${i}`, decision));
    expect(await decisionOf(seam, ...policies)).toEqual(decided(expected));
  });

  it.each([...seams])('answers %s when nobody has anything to say', async (seam) => {
    const result = await decisionOf(seam, policy('quiet', neutralDecisions[seam]));
    expect(result).toMatchObject(decided({ decision: neutralDecisions[seam].decision }));
  });
});

describe('H2 what an end of the evaluation makes of earlier policies', () => {
  const adds = policy('a', { decision: 'allow', arguments: { a: '1' }, context: [textBlock('x')] });
  const context1 = [said('a', 'x')];

  it('a deny keeps their contexts and its own, and records the rewrites that came to nothing', async () => {
    const denies = policy('b', { decision: 'deny', reason: 'no', context: [textBlock('y')] });
    expect(await evaluate([adds, denies], subjectOf('pre-tool'), context())).toMatchObject({
      result: decided({ decision: 'deny', policy: 'b', reason: 'no', context: [...context1, said('b', 'y')] }),
      observed: [{ policy: 'a', decision: 'rewrite', reason: 'without effect: b decided deny' }],
    });
  });

  it('a failure, too', async () => {
    expect(await evaluate([adds, wild('b', null)], subjectOf('pre-tool'), context())).toMatchObject({
      result: { status: 'failed', policy: 'b', context: context1 },
      observed: [{ policy: 'a', decision: 'rewrite', reason: 'without effect: b failed' }],
    });
  });

  it('a blocked prompt has no place for contexts: they are recorded', async () => {
    const allows = policy('a', { decision: 'allow', content: [textBlock('z')], context: [textBlock('x')] });
    const blocks = policy('b', { decision: 'block', reason: 'no' });
    expect((await evaluate([allows, blocks], subjectOf('prompt-submit'), context())).observed).toEqual([
      { policy: 'a', decision: 'rewrite', reason: 'without effect: b decided block' },
      { policy: 'a', decision: 'context', reason: 'without effect: b decided block' },
    ]);
  });

  it('an ask may carry arguments and context of its own', async () => {
    const asks: PolicyDecision = { decision: 'ask', question: 'so?', arguments: { a: '2' }, context: [textBlock('y')] };
    expect(await decisionOf('pre-tool', adds, policy('b', asks))).toEqual(
      decided({
        ...{ decision: 'ask', policy: 'b', question: 'so?', arguments: { a: '2' }, policies: ['a', 'b'] },
        context: [...context1, said('b', 'y')],
      }),
    );
  });

  it('H5 whoever replaces the content of a result takes its structured output away, too', async () => {
    let seen: unknown;
    const result = { content: [textBlock('s3cret')], output: { key: 's3cret' }, isError: false, durationMs: 1 };
    const redacts = policy('a', { decision: 'accept', content: [textBlock('***')] });
    const looks = policy('b', (subject) => ((seen = subject), { decision: 'accept' }));
    await evaluate([redacts, looks], subjectOf('post-tool', { result }), context());
    expect(seen).toMatchObject({ result: { content: [textBlock('***')] } });
    expect(JSON.stringify(seen)).not.toContain('s3cret');
  });
});

describe('H3 failing', () => {
  const failures: [string, Policy, string][] = [
    [
      'a crash',
      policy('p', () => {
        throw new Error('boom');
      }),
      'crash',
    ],
    ['a named failure', policy('p', () => Promise.reject(new PolicyError('exit_1', 'boom'))), 'exit_1'],
    ['no answer in time', policy('p', () => new Promise(() => undefined), { timeoutMs: 20 }), 'timeout'],
    ['an unknown decision', wild('p', { decision: 'maybe' }), 'invalid_decision'],
    ['a decision of another seam', wild('p', { decision: 'compact' }), 'invalid_decision'],
    ['null', wild('p', null), 'invalid_decision'],
    ['an array', wild('p', []), 'invalid_decision'],
    ['a deny without a reason', wild('p', { decision: 'deny' }), 'invalid_decision'],
    ['a deny with an empty reason', policy('p', deny('  ')), 'invalid_decision'],
    [
      'a value that JSON cannot carry',
      wild('p', { decision: 'allow', arguments: { at: new Date(0) } }),
      'invalid_decision',
    ],
    ['an unknown field', wild('p', { decision: 'allow', argumnets: {} }), 'invalid_decision'],
  ];
  it.each(failures)('%s of an enforcing policy fails the evaluation', async (_name, failing, code) => {
    const result = await decisionOf('pre-tool', failing, policy('later', allow, { order: 1 }));
    expect(result).toMatchObject({ status: 'failed', policy: 'p', error: { code } });
  });

  it.each(failures)('%s of an observing policy is recorded, and the loop goes on', async (_name, failing, code) => {
    const { result, observed } = await evaluate(
      [{ ...failing, mode: 'observe' }, policy('later', rewrite({ a: '1' }), { order: 1 })],
      subjectOf('pre-tool'),
      context(),
    );
    expect(result).toMatchObject(decided({ decision: 'allow', arguments: { a: '1' } }));
    expect(observed).toEqual([{ policy: 'p', decision: 'failed', reason: expect.stringMatching(`^${code}: `) }]);
  });

  it.each([...seams])('a failure at %s is reported as one', async (seam) => {
    expect(await decisionOf(seam, wild('p', { decision: 'nonsense' }))).toMatchObject({
      status: 'failed',
      policy: 'p',
    });
  });

  it.each([
    ['prompt-submit', { decision: 'block' }],
    ['post-tool', { decision: 'block', feedback: '' }],
    ['pre-compact', { decision: 'block', reason: ' ' }],
  ] as const)('a block without a reason at %s is a failure', async (seam, answer) => {
    expect(await decisionOf(seam, wild('p', answer))).toMatchObject({ status: 'failed' });
  });

  it('records what an observing policy would have done, and does none of it', async () => {
    const observing = (name: string, decision: PolicyDecision): Policy => policy(name, decision, { mode: 'observe' });
    const { result, observed } = await evaluate(
      [
        observing('a', deny('no')),
        observing('b', ask('sure?')),
        observing('c', rewrite({ a: '9' })),
        observing('d', allow),
        observing('e', { decision: 'allow', context: [textBlock('x')] }),
      ],
      subjectOf('pre-tool'),
      context(),
    );
    expect(result).toEqual(decided({ decision: 'allow', policies: [], context: [] }));
    expect(observed).toEqual([
      { policy: 'a', decision: 'deny', reason: 'no' },
      { policy: 'b', decision: 'ask', reason: 'sure?' },
      { policy: 'c', decision: 'rewrite' },
      { policy: 'e', decision: 'context' },
    ]);
  });

  it('decides nothing at shutdown and when the infrastructure failed', async () => {
    const stop = new AbortController();
    const hanging = policy('p', () => new Promise(() => undefined));
    const waiting = evaluate([hanging], subjectOf('pre-tool'), context(stop.signal));
    stop.abort(new Error('shutdown'));
    await expect(waiting).rejects.toThrow('shutdown');
    const lost = policy('p', () => Promise.reject(new RetryableError('no store')));
    await expect(decisionOf('pre-tool', lost)).rejects.toThrow(RetryableError);
  });
});
