import { describe, expect, it } from '@jest/globals';
import { seams, type Seam } from '@jetloop/contracts';
import { evaluationContext } from '../testing/context.js';
import { subjectOf, textBlock } from '../testing/subjects.js';
import { compileExternal } from './compile-external.js';
import type { HookOutput } from './transport.js';

const output = (answer: unknown): HookOutput => ({
  kind: 'answer',
  bytes: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  plainText: true,
});
const options = { policy: 'set/hook', matcher: undefined, messages: true };
const context = evaluationContext({ messages: () => Promise.resolve([{ role: 'user', content: [textBlock('hi')] }]) });
const decide = (seam: Seam, answer: unknown): Promise<unknown> =>
  compileExternal(() => Promise.resolve(output(answer)), options)(subjectOf(seam), context);
const specific = (fields: object): object => ({ hookSpecificOutput: fields });
const added = { context: [textBlock('by the way')] };

describe('the dialect of external hooks', () => {
  const table: [Seam, string, unknown, object][] = [
    ['session-start', 'nothing', '', { decision: 'none' }],
    ['session-start', 'plain text', 'by the way', { decision: 'none', ...added }],
    ['session-start', 'context', specific({ additionalContext: 'by the way' }), { decision: 'none', ...added }],
    ['prompt-submit', 'nothing', '', { decision: 'allow' }],
    ['prompt-submit', 'plain text', 'by the way', { decision: 'allow', ...added }],
    [
      'prompt-submit',
      'context',
      specific({ hookEventName: 'UserPromptSubmit', additionalContext: 'by the way' }),
      { decision: 'allow', ...added },
    ],
    ['prompt-submit', 'block', { decision: 'block', reason: 'no' }, { decision: 'block', reason: 'no' }],
    ['prompt-submit', 'stop', { continue: false, stopReason: 'no' }, { decision: 'block', reason: 'no' }],
    ['pre-step', 'context', specific({ additionalContext: 'by the way' }), { decision: 'none', ...added }],
    ['pre-step', 'a decision of our own', { jetloop: { decision: 'compact' } }, { decision: 'compact' }],
    ['pre-tool', 'plain text', 'looks fine', { decision: 'allow' }],
    ['pre-tool', 'an empty object', {}, { decision: 'allow' }],
    [
      'pre-tool',
      'allow',
      specific({ permissionDecision: 'allow', permissionDecisionReason: 'x' }),
      { decision: 'allow' },
    ],
    [
      'pre-tool',
      'deny',
      specific({ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' }),
      { decision: 'deny', reason: 'no' },
    ],
    [
      'pre-tool',
      'ask, with other arguments',
      specific({ permissionDecision: 'ask', permissionDecisionReason: 'sure?', updatedInput: { a: 1 } }),
      { decision: 'ask', question: 'sure?', arguments: { a: 1 } },
    ],
    [
      'pre-tool',
      'other arguments and context',
      specific({ updatedInput: { a: 1 }, additionalContext: 'by the way' }),
      { decision: 'allow', arguments: { a: 1 }, ...added },
    ],
    ['pre-tool', 'the old words: approve', { decision: 'approve' }, { decision: 'allow' }],
    ['pre-tool', 'the old words: block', { decision: 'block', reason: 'no' }, { decision: 'deny', reason: 'no' }],
    ['pre-tool', 'stop', { continue: false, stopReason: 'enough' }, { decision: 'deny', reason: 'enough' }],
    [
      'pre-tool',
      'a block beside an allow',
      { decision: 'block', reason: 'no', ...specific({ permissionDecision: 'allow' }) },
      { decision: 'deny', reason: 'no' },
    ],
    ['post-tool', 'plain text', 'seen', { decision: 'accept' }],
    ['post-tool', 'context', specific({ additionalContext: 'by the way' }), { decision: 'accept', ...added }],
    [
      'post-tool',
      'block with context',
      { decision: 'block', reason: 'no', ...specific({ additionalContext: 'by the way' }) },
      { decision: 'block', feedback: 'no', ...added },
    ],
    [
      'post-tool',
      'another result',
      { jetloop: { decision: 'accept', content: [textBlock('***')] } },
      { decision: 'accept', content: [textBlock('***')] },
    ],
    ['turn-continuation', 'nothing', '', { decision: 'none' }],
    ['turn-continuation', 'block', { decision: 'block', reason: 'test' }, { decision: 'continue', reason: 'test' }],
    ['turn-continuation', 'stop', { continue: false, stopReason: 'x' }, { decision: 'stop' }],
    ['pre-compact', 'nothing', {}, { decision: 'allow' }],
    ['pre-compact', 'block', { decision: 'block', reason: 'no' }, { decision: 'block', reason: 'no' }],
    ['pre-tool', 'words for a screen', { systemMessage: 'hello', suppressOutput: true }, { decision: 'allow' }],
  ];
  it.each(table)('%s: %s', async (seam, _name, answer, expected) => {
    expect(await decide(seam, answer)).toEqual(expected);
  });

  it.each<[Seam, string, unknown]>([
    ['session-start', 'block', { decision: 'block', reason: 'x' }],
    ['session-start', 'stop', { continue: false }],
    ['pre-step', 'block', { decision: 'block', reason: 'x' }],
    ['post-tool', 'permission', specific({ permissionDecision: 'deny' })],
    ['prompt-submit', 'other arguments', specific({ updatedInput: {} })],
    ['turn-continuation', 'context', specific({ additionalContext: 'x' })],
    ['turn-continuation', 'block without a reason', { decision: 'block' }],
    ['pre-tool', 'the name of another event', specific({ hookEventName: 'PostToolUse' })],
    ['pre-tool', 'an unknown permission', specific({ permissionDecision: 'defer' })],
    ['pre-tool', 'a misspelled field', specific({ permisionDecision: 'deny' })],
    ['pre-tool', 'a misspelled word', { decison: 'block' }],
    ['pre-tool', 'two answers in one', { jetloop: { decision: 'allow' }, decision: 'block', reason: 'x' }],
    ['pre-tool', 'a decision that is no text', { decision: true }],
    ['pre-tool', 'arguments that are none', specific({ updatedInput: 'ls' })],
  ])('%s: %s is a failure, not consent', async (seam, _name, answer) => {
    await expect(decide(seam, answer)).rejects.toThrow(expect.objectContaining({ code: 'invalid_decision' }));
  });

  it('takes no plain text from a server', async () => {
    const page = { ...output('<html>'), plainText: false };
    const evaluation = compileExternal(() => Promise.resolve(page), options)(subjectOf('pre-tool'), context);
    await expect(evaluation).rejects.toThrow(expect.objectContaining({ code: 'invalid_json' }));
  });
});

describe('what an external hook is told', () => {
  const told = async (seam: Seam, extra = {}, more = {}): Promise<unknown> => {
    let body: unknown;
    const evaluate = compileExternal(
      (bytes) => {
        body = JSON.parse(Buffer.from(bytes).toString('utf8'));
        return Promise.resolve(output(''));
      },
      { ...options, ...more },
    );
    await evaluate(subjectOf(seam, extra), { ...context, readBlob: () => Promise.resolve(Buffer.from('a long text')) });
    return body;
  };
  const common = { session_id: 's1', cwd: '/srv/ws' };
  const jetloop = (seam: Seam) => ({
    ...{ policy: 'set/hook', seam, tenant: 'acme', agent: 'coder', turn: 1, step: 1 },
    commandId: 'acme.s1.1.1.hook.1',
  });

  it.each<[Seam, object, object]>([
    ['session-start', { hook_event_name: 'SessionStart', source: 'startup' }, {}],
    [
      'prompt-submit',
      { hook_event_name: 'UserPromptSubmit', prompt: 'hello' },
      { messageId: 'm1', source: { kind: 'user' }, content: [textBlock('hello')] },
    ],
    [
      'pre-step',
      { hook_event_name: 'PreStep' },
      { estimatedTokens: 1000, messages: [{ role: 'user', content: [textBlock('hi')] }] },
    ],
    [
      'pre-tool',
      { hook_event_name: 'PreToolUse', tool_name: 'bash', tool_input: { command: 'ls' }, tool_use_id: 'c1' },
      { n: 1, tool: { readonly: false, idempotent: false }, callsBefore: 0 },
    ],
    [
      'post-tool',
      {
        hook_event_name: 'PostToolUse',
        tool_name: 'bash',
        tool_input: { command: 'ls' },
        tool_use_id: 'c1',
        tool_response: { content: [textBlock('a b c')], isError: false, durationMs: 5 },
      },
      { n: 1 },
    ],
    ['turn-continuation', { hook_event_name: 'Stop', stop_hook_active: false }, { default: 'stop', forced: 0 }],
    [
      'pre-compact',
      { hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' },
      { from: 0, to: 10, estimatedTokens: 1000 },
    ],
  ])('%s', async (seam, dialect, ours) => {
    expect(await told(seam)).toEqual({ ...common, ...dialect, jetloop: { ...jetloop(seam), ...ours } });
  });

  it('says that a turn was made to go on', async () => {
    expect(await told('turn-continuation', { forced: 2 })).toMatchObject({ stop_hook_active: true });
  });

  it('leaves the conversation out where the set says so', async () => {
    expect(await told('pre-step', {}, { messages: false })).not.toHaveProperty('jetloop.messages');
  });

  it('has the texts that are kept in the blob store', async () => {
    const blob = { digest: 'd', size: 11, mediaType: 'text/plain' };
    const content = [
      { type: 'blob', of: 'text', blob },
      { type: 'resource', uri: 'file:///a', blob },
    ];
    expect(await told('prompt-submit', { content })).toMatchObject({ prompt: 'a long text\nfile:///a\n\na long text' });
    expect(await told('post-tool', { result: { content, isError: false, durationMs: 1 } })).toMatchObject({
      tool_response: { content: [textBlock('a long text'), { type: 'resource', text: 'a long text' }] },
    });
  });
});

describe('the matcher', () => {
  const runs = async (matcher: string, seam: Seam, extra = {}): Promise<boolean> => {
    let ran = false;
    const transport = () => {
      ran = true;
      return Promise.resolve(output(''));
    };
    await compileExternal(transport, { ...options, matcher })(subjectOf(seam, extra), context);
    return ran;
  };
  it.each<[string, string, boolean]>([
    ['', 'bash', true],
    ['*', 'bash', true],
    ['bash', 'bash', true],
    ['bash', 'bash_more', false],
    ['Bash', 'bash', false],
    ['read_file|bash', 'bash', true],
    ['read_file|bash', 'write_file', false],
    ['mcp__.*', 'mcp__db__query', true],
    ['.*_file', 'read_file', true],
    ['^read', 'bread', false],
    ['write.*|bash', 'multi_write', true],
    ['a-b', 'a-bc', false],
  ])('%j on %s: %s', async (matcher, name, expected) => {
    expect(await runs(matcher, 'pre-tool', { name })).toBe(expected);
    expect(await runs(matcher, 'post-tool', { name })).toBe(expected);
  });
  it('looks at how a session starts', async () => {
    expect(await runs('startup|resume', 'session-start')).toBe(true);
    expect(await runs('resume', 'session-start')).toBe(false);
  });
  it.each(seams)('is all by default at %s', async (seam) => {
    expect(await runs('', seam)).toBe(true);
  });
});
