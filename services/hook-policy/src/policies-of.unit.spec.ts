import { describe, expect, it } from '@jest/globals';
import type { BlobRef, Json, SeamSubject } from '@jetloop/contracts';
import type { PolicyDecision } from './policy/policy-decision.js';
import { evaluationContext, formsIn } from './testing/context.js';
import { subjectOf, textBlock } from './testing/subjects.js';
import { readPolicySet } from './rules/parse-policy-set.js';
import { policiesOf } from './policies-of.js';

type Rule = Record<string, unknown>;
const evaluate = (rule: Rule, subject: SeamSubject, blobs: Record<string, string> = {}): Promise<PolicyDecision> => {
  const set = readPolicySet({ name: 'set', policies: [{ name: 'rule', seam: subject.seam, ...rule }] }, 'test');
  const [policy] = policiesOf(set, formsIn());
  const readBlob = (blob: BlobRef) => Promise.resolve(new TextEncoder().encode(blobs[blob.digest]));
  return policy!.evaluate(subject, evaluationContext({ readBlob }));
};
const call = (
  args: Record<string, Json>,
  extra: Partial<Extract<SeamSubject, { seam: 'pre-tool' }>> = {},
): SeamSubject => subjectOf('pre-tool', { arguments: args, ...extra });
const prompt = (...texts: string[]): SeamSubject => subjectOf('prompt-submit', { content: texts.map(textBlock) });
const matches = async (when: Rule, subject: SeamSubject): Promise<boolean> => {
  const decide = subject.seam === 'pre-tool' ? { deny: 'no' } : { block: 'no' };
  const { decision } = await evaluate({ when, decide }, subject);
  return decision === 'deny' || decision === 'block';
};
const KEY = `sk-${'a1B2'.repeat(6)}`;
const blob = (digest: string, mediaType: string): BlobRef => ({ digest, size: 9, mediaType });

describe('the conditions of a rule', () => {
  it.each<[string, Rule, SeamSubject, boolean]>([
    ['no condition', {}, call({}), true],
    ['a tool', { tool: 'bash' }, call({}), true],
    ['another tool', { tool: 'read_file' }, call({}), false],
    ['a tool glob', { tool: '*_file' }, call({}, { name: 'read_file' }), true],
    ['a list of tools', { tool: ['a', 'ba?h'] }, call({}), true],
    ['a tool regex', { tool: '/^(read|write)_/' }, call({}, { name: 'write_file' }), true],
    ['a tool regex with flags', { tool: '/^BASH$/i' }, call({}), true],
    ['a tool regex that does not fit', { tool: '/^read_/' }, call({}), false],
    ['readonly tools', { readonly: true }, call({}, { tool: { readonly: true, idempotent: true } }), true],
    ['tools that are not readonly', { readonly: false }, call({}), true],
    ['readonly tools, of one that is not', { readonly: true }, call({}), false],
    ['the call after the last one', { 'calls-before': { gt: 2 } }, call({}, { callsBefore: 3 }), true],
    ['the last call', { 'calls-before': { gt: 2 } }, call({}, { callsBefore: 2 }), false],
    ['equals', { argument: { path: 'a', equals: { b: [1] } } }, call({ a: { b: [1] } }), true],
    ['equals, something else', { argument: { path: 'a', equals: 1 } }, call({ a: '1' }), false],
    ['in', { argument: { path: 'a', in: [1, 'x'] } }, call({ a: 'x' }), true],
    ['in, something else', { argument: { path: 'a', in: [1, 'x'] } }, call({ a: 'y' }), false],
    ['glob', { argument: { path: 'a', glob: 'src/**/*.ts' } }, call({ a: 'src/b/c.ts' }), true],
    ['glob, of hidden files', { argument: { path: 'a', glob: '**/*.pem' } }, call({ a: '.x/y.pem' }), true],
    ['glob, something else', { argument: { path: 'a', glob: 'src/*' } }, call({ a: 'lib/x' }), false],
    ['regex', { argument: { path: 'a', regex: '^x+$' } }, call({ a: 'xx' }), true],
    ['regex, in a list', { argument: { path: 'a', regex: '^x+$' } }, call({ a: ['y', { b: 'xx' }] }), true],
    ['regex, something else', { argument: { path: 'a', regex: '^x+$' } }, call({ a: 'xy' }), false],
    ['gt', { argument: { path: 'a', gt: 5 } }, call({ a: 6 }), true],
    ['gt, equal', { argument: { path: 'a', gt: 5 } }, call({ a: 5 }), false],
    ['lt', { argument: { path: 'a', lt: 5 } }, call({ a: 4 }), true],
    ['gt and lt', { argument: { path: 'a', gt: 1, lt: 5 } }, call({ a: 7 }), false],
    ['gt, of a text', { argument: { path: 'a', gt: 5 } }, call({ a: '6' }), false],
    ['a deep path', { argument: { path: 'a.b[1].c', equals: 1 } }, call({ a: { b: [0, { c: 1 }] } }), true],
    ['every element', { argument: { path: 'a[*].c', equals: 1 } }, call({ a: [{ c: 0 }, { c: 1 }] }), true],
    ['every field', { argument: { path: '*', equals: 1 } }, call({ a: 0, b: 1 }), true],
    ['a missing argument', { argument: { path: 'a', regex: '' } }, call({}), false],
    ['no inherited field', { argument: { path: 'constructor', regex: '' } }, call({}), false],
    [
      'two arguments',
      {
        argument: [
          { path: 'a', equals: 1 },
          { path: 'b', equals: 1 },
        ],
      },
      call({ a: 1, b: 2 }),
      false,
    ],
    ['a command', { command: { runs: ['rm'] } }, call({ command: 'ls; rm x' }), true],
    ['a harmless command', { command: { runs: ['rm'] } }, call({ command: 'ls' }), false],
    ['a command that is no text', { command: { runs: ['rm'] } }, call({ command: ['rm'] }), true],
    ['no command', { command: { runs: ['rm'] } }, call({}), false],
    ['a command in another argument', { command: { argument: 'a.b', runs: ['rm'] } }, call({ a: { b: 'rm x' } }), true],
    ['a command off the list', { command: { 'runs-other-than': ['ls'] } }, call({ command: 'rm x' }), true],
    ['contains', { prompt: { contains: 'drop database' } }, prompt('please DROP\n  DATABASE x'), true],
    ['contains, hidden', { prompt: { contains: 'drop' } }, prompt('d\u200br\u00adop'), true],
    ['contains, in wide letters', { prompt: { contains: 'drop' } }, prompt('ＤＲＯＰ'), true],
    ['contains, cut between blocks', { prompt: { contains: 'drop' } }, prompt('dr', 'op'), true],
    ['contains one of', { prompt: { contains: ['x1', 'x2'] } }, prompt('has x2'), true],
    ['contains, something else', { prompt: { contains: 'drop' } }, prompt('hello'), false],
    ['a prompt regex', { prompt: { regex: '/^a.c$/m' } }, prompt('x\nabc\ny'), true],
    ['a prompt regex that does not fit', { prompt: { regex: '^abc$' } }, prompt('xabc'), false],
    ['secrets', { prompt: { secrets: true } }, prompt(`my key ${KEY}`), true],
    ['no secrets', { prompt: { secrets: true } }, prompt('sk-short, risk-averse'), false],
    ['both of the text', { prompt: { contains: 'a', regex: 'b' } }, prompt('a'), false],
  ])('%s', async (_name, when, subject, expected) => {
    expect(await matches(when, subject)).toBe(expected);
  });

  it.each<[string, boolean, string?]>([
    ['test/a.js', true],
    ['./test/a.js', true],
    ['test', true],
    ['test/', true],
    ['src/../test/a.js', true],
    ['/srv/ws/test/a.js', true],
    ['../ws/test/a.js', true],
    ['test//a.js', true],
    ['file:///srv/ws/test/a.js', true],
    ['tests/a.js', false],
    ['src/test/a.js', false],
    ['test/../src/a.js', false],
    ['/test/a.js', false],
    ['..test', false],
  ])('under-path test: %s %s', async (path, expected) => {
    expect(await matches({ argument: { path: 'path', 'under-path': 'test' } }, call({ path }))).toBe(expected);
  });

  it('takes an absolute path for inside when the workspace is not known', async () => {
    const { workspace: _workspace, ...subject } = subjectOf('pre-tool', { arguments: { path: '/any/test/a.js' } });
    expect(await matches({ argument: { path: 'path', 'under-path': 'test' } }, subject)).toBe(true);
  });

  it('cannot be hung by a regular expression', async () => {
    const subject = call({ a: `${'a'.repeat(50)}!` });
    await expect(matches({ argument: { path: 'a', regex: '^(a+)+$' } }, subject)).rejects.toMatchObject({
      code: 'pattern_timeout',
    });
  });

  it('sees a text that went to the blob store', async () => {
    const content = [{ type: 'blob' as const, of: 'text', blob: blob('d1', 'text/plain') }];
    const rule = { when: { prompt: { contains: 'drop' } }, decide: { block: 'no' } };
    const subject = subjectOf('prompt-submit', { content });
    expect(await evaluate(rule, subject, { d1: 'DROP it' })).toEqual({ decision: 'block', reason: 'no' });
    expect(await evaluate(rule, subject, { d1: 'keep it' })).toEqual({ decision: 'allow' });
  });

  it.each<[string, Rule, SeamSubject, boolean]>([
    ['a result text', { result: { contains: 'B C' } }, subjectOf('post-tool'), true],
    ['another result text', { result: { contains: 'x' } }, subjectOf('post-tool'), false],
    [
      'an output',
      { result: { contains: 'x' } },
      subjectOf('post-tool', { result: { content: [], output: { a: 'x' }, isError: false, durationMs: 1 } }),
      true,
    ],
    [
      'arguments that did not parse',
      { argument: { path: 'a', equals: 1 } },
      subjectOf('post-tool', { arguments: null }),
      false,
    ],
    ['a long range', { 'estimated-tokens': { gt: 500 } }, subjectOf('pre-compact'), true],
    ['a short range', { 'estimated-tokens': { lt: 500 } }, subjectOf('pre-compact'), false],
  ])('%s', async (_name, when, subject, expected) => {
    expect(await matches(when, subject)).toBe(expected);
  });

  it('looks at how a turn would go on', async () => {
    const rule = { when: { default: 'stop', forced: { lt: 2 } }, decide: { continue: 'tests fail' } };
    expect(await evaluate(rule, subjectOf('turn-continuation'))).toEqual({
      decision: 'continue',
      reason: 'tests fail',
    });
    expect(await evaluate(rule, subjectOf('turn-continuation', { forced: 2 }))).toEqual({ decision: 'none' });
  });
});

describe('the decisions of a rule', () => {
  it.each<[string, Rule, SeamSubject, object]>([
    [
      'deny, with what was found',
      { when: { command: { runs: ['rm'] } }, decide: { deny: 'no' } },
      call({ command: 'sudo rm x' }),
      { decision: 'deny', reason: 'no (the command line runs rm)' },
    ],
    [
      'ask',
      { decide: { ask: { question: 'sure?', 'expires-in': '10m' } } },
      call({}),
      { decision: 'ask', question: 'sure?', expiresInMs: 600_000 },
    ],
    [
      'rewrite',
      { decide: { rewrite: { arguments: { timeout: 5 } } } },
      call({ command: 'ls', timeout: 99 }),
      { decision: 'allow', arguments: { command: 'ls', timeout: 5 } },
    ],
    [
      'context',
      { decide: { context: 'note' } },
      subjectOf('session-start'),
      { decision: 'none', context: [textBlock('note')] },
    ],
    [
      'compact',
      { when: { 'estimated-tokens': { gt: 5 } }, decide: { compact: true } },
      subjectOf('pre-step'),
      { decision: 'compact' },
    ],
    ['stop', { decide: { stop: true } }, subjectOf('turn-continuation'), { decision: 'stop' }],
    ['block a prompt', { decide: { block: 'no' } }, prompt('x'), { decision: 'block', reason: 'no' }],
    ['block a result', { decide: { block: 'no' } }, subjectOf('post-tool'), { decision: 'block', feedback: 'no' }],
    ['block a compaction', { decide: { block: 'no' } }, subjectOf('pre-compact'), { decision: 'block', reason: 'no' }],
    [
      'redact a prompt',
      { decide: { redact: {} } },
      prompt(`key ${KEY}!`, 'more'),
      { decision: 'allow', content: [textBlock('key [redacted]!'), textBlock('more')] },
    ],
    ['redact nothing', { decide: { redact: {} } }, prompt('hello'), { decision: 'allow' }],
    [
      'redact by a pattern',
      { decide: { redact: { secrets: false, patterns: ['/pin \\d+/i'], with: '$&' } } },
      prompt(`PIN 123, pin 4, ${KEY}`),
      { decision: 'allow', content: [textBlock(`$&, $&, ${KEY}`)] },
    ],
    [
      'redact arguments',
      { decide: { redact: {} } },
      call({ a: { b: [`x ${KEY}`] } }),
      { decision: 'allow', arguments: { a: { b: ['x [redacted]'] } } },
    ],
    [
      'redact and say so',
      { decide: { redact: {}, context: 'cut' } },
      prompt(KEY),
      { decision: 'allow', content: [textBlock('[redacted]')], context: [textBlock('cut')] },
    ],
  ])('%s', async (_name, rule, subject, expected) => {
    expect(await evaluate(rule, subject)).toEqual(expected);
  });

  it('redacts results, in the output too', async () => {
    const rule = { decide: { redact: {} } };
    const result = { content: [textBlock(`a ${KEY}`)], isError: false, durationMs: 1 };
    expect(await evaluate(rule, subjectOf('post-tool', { result }))).toEqual({
      decision: 'accept',
      content: [textBlock('a [redacted]')],
    });
    const inOutput = { ...result, content: [textBlock('a')], output: { k: KEY } };
    expect(await evaluate(rule, subjectOf('post-tool', { result: inOutput }))).toEqual({
      decision: 'accept',
      content: [textBlock('a')],
    });
  });

  it('redacts a stored text, and fails where a stored secret cannot be taken out', async () => {
    const rule = { decide: { redact: {} } };
    const stored = (of: string, mediaType: string): SeamSubject =>
      subjectOf('prompt-submit', { content: [{ type: 'blob', of, blob: blob('d1', mediaType) }] });
    const blobs = { d1: `"${KEY}"` };
    expect(await evaluate(rule, stored('text', 'text/plain'), blobs)).toEqual({
      decision: 'allow',
      content: [textBlock('"[redacted]"')],
    });
    await expect(evaluate(rule, stored('json', 'application/json'), blobs)).rejects.toMatchObject({
      code: 'secret_in_blob',
    });
    expect(await evaluate(rule, stored('image', 'image/png'), blobs)).toEqual({ decision: 'allow' });
  });

  it.each([
    KEY,
    `ghp_${'a1'.repeat(18)}`,
    `github_pat_${'a1'.repeat(20)}`,
    'AKIAIOSFODNN7EXAMPLE',
    `AIza${'a'.repeat(35)}`,
    'xoxb-1234567890-abc',
    `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`,
    '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----',
  ])('knows the secret %s', async (secret) => {
    expect(await evaluate({ decide: { redact: {} } }, prompt(`x ${secret} y`))).toMatchObject({
      content: [textBlock('x [redacted] y')],
    });
  });
});
