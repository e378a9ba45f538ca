import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineTool } from '@jetloop/tool-runner';
import type { ScriptedCall } from '@jetloop/testing';
import { z } from 'zod';
import type { AgentPolicies } from '../support/agent-policies.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

/** A model that makes these calls in one step, and then is done. */
const callsThenDone = (...calls: ScriptedCall[]) => [{ calls }, { text: 'done' }];

const throwing = defineTool({
  name: 'explode',
  description: 'Throws.',
  input: z.object({}),
  run: () => {
    throw new Error('the tool went up in smoke');
  },
});

const plugins: Record<string, AgentPolicies> = {
  annotated: {
    // The answer to the first call is the last to come.
    'post-tool': async ({ n }) => {
      if (n === 0) await sleep(300);
      return { decision: 'accept', context: text(`note on call ${n}`) };
    },
  },
  denying: {
    'pre-tool': ({ name }) =>
      name === 'write_file' ? { decision: 'deny', reason: 'this folder is not for writing' } : undefined,
  },
  redacting: {
    'post-tool': ({ result }) =>
      JSON.stringify(result).includes('hunter2')
        ? { decision: 'accept', content: text('the password is [redacted]') }
        : undefined,
  },
  withholding: {
    'post-tool': ({ name, callId }) => {
      if (name === 'list_dir')
        return { decision: 'block', feedback: 'Listings are confidential.', context: text('Ask for one file.') };
      // What a policy has no say in: the answer as a whole is refused.
      if (name === 'glob')
        return Object.assign({ decision: 'accept' as const }, { isError: true, callId: `${callId}x` });
      return { decision: 'accept', content: text('all is well') };
    },
  },
  everywhere: {
    'session-start': () => ({ decision: 'none', context: text('Welcome.') }),
    'prompt-submit': ({ content }) =>
      JSON.stringify(content).includes('destroy') ? { decision: 'block', reason: 'not that' } : undefined,
    'pre-tool': () => undefined,
    'post-tool': () => ({ decision: 'accept', context: text('Noted.') }),
  },
};

describe('tool calls', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins, tools: [throwing] });
  });
  afterAll(() => system.stop());

  it('L14 two calls whose post-tool policies add context: both contexts behind the last result, in call order', async () => {
    const session = await system.create(callsThenDone({ name: 'list_dir' }, { name: 'list_dir' }), {
      name: 'annotated',
      tools: ['list_dir'],
    });
    expect(await session.prompt('look twice')).toEqual({ kind: 'completed' });
    expect((await session.data('tool.result')).map(({ n }) => n)).toEqual([1, 0]);
    const types = await session.types();
    const last = types.lastIndexOf('tool.result');
    expect(types.slice(last + 1, last + 4)).toEqual(['context.message', 'context.message', 'step.end']);
    expect((await session.data('context.message')).map(({ content }) => content)).toEqual([
      text('note on call 0'),
      text('note on call 1'),
    ]);
    expect(spoken(session.requests[1]).map((line) => line.split(':')[0])).toEqual([
      'user',
      'assistant',
      'tool call_1_0',
      'tool call_1_1',
      'user',
      'user',
    ]);
  });

  it('L15 a call denied by name never ran, the reason is in its result, and the loop goes on', async () => {
    const call = { name: 'write_file', arguments: { path: 'denied.txt', content: 'x' } };
    const session = await system.create(callsThenDone(call), { name: 'denying', tools: ['write_file'] });
    expect(await session.prompt('write it down')).toEqual({ kind: 'completed' });
    expect(await system.holds('denied.txt')).toBe(false);
    expect(await session.data('tool.call')).toMatchObject([{ name: 'write_file', decision: 'deny' }]);
    const [result] = await session.data('tool.result');
    expect(result).toMatchObject({ isError: true, error: { code: 'denied' } });
    expect(await session.decided('pre-tool')).toMatchObject([{ policy: 'denying/test', decision: 'deny' }]);
    expect(session.requests).toHaveLength(2);
    expect(spoken(session.requests[1])[2]).toContain('this folder is not for writing');
  });

  it('L16 post-tool replaces a content: the original is in no event and in no request', async () => {
    await writeFile(join(system.workspace, 'secret.txt'), 'the password is hunter2');
    const session = await system.create(callsThenDone({ name: 'read_file', arguments: { path: 'secret.txt' } }), {
      name: 'redacting',
      tools: ['read_file'],
    });
    expect(await session.prompt('read it')).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([
      { isError: false, content: text('the password is [redacted]') },
    ]);
    expect(JSON.stringify(await session.events())).not.toContain('hunter2');
    expect(spoken(session.requests[1])[2]).toBe('tool call_1_0: the password is [redacted]');
    expect(await session.decided('post-tool')).toMatchObject([{ policy: 'redacting/test', decision: 'rewrite' }]);
  });

  it('L17 post-tool block is an error result with the feedback; a policy changes neither isError nor callId', async () => {
    const session = await system.create(
      callsThenDone(
        { name: 'list_dir' },
        { name: 'read_file', arguments: { path: 'absent.txt' } },
        { name: 'glob', arguments: { pattern: '*' } },
      ),
      { name: 'withholding', tools: ['list_dir', 'read_file', 'glob'] },
    );
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    const results = (await session.data('tool.result')).sort((a, b) => a.n - b.n);
    expect(results).toMatchObject([
      { callId: 'call_1_0', isError: true, error: { code: 'blocked' }, content: text('Listings are confidential.') },
      { callId: 'call_1_1', isError: true, error: { code: 'not_found' }, content: text('all is well') },
      { callId: 'call_1_2', isError: true, error: { code: 'blocked' } },
    ]);
    expect(JSON.stringify(results[2]?.content)).toContain('withholding/test failed');
    expect(await session.data('context.message')).toMatchObject([
      { content: text('Ask for one file.'), source: { kind: 'policy', name: 'withholding/test' } },
    ]);
    expect(spoken(session.requests[1]).at(-1)).toContain('Ask for one file.');
    expect(spoken(session.requests[1]).slice(2, 4)).toEqual([
      expect.stringContaining('Listings are confidential.'),
      expect.stringContaining('all is well'),
    ]);
  });

  it('L18 unknown tools, bad arguments and failing tools are error results, and empty arguments mean {}', async () => {
    const session = await system.create(
      callsThenDone(
        { name: 'no_such_tool' },
        { name: 'list_dir', arguments: '{"path":"." ' },
        { name: 'list_dir', arguments: '["."]' },
        { name: 'list_dir', arguments: 'null' },
        { name: 'list_dir', arguments: '{"path":".","path":".."}' },
        { name: 'read_file', arguments: { path: 'absent.txt' } },
        { name: 'explode' },
        { name: 'list_dir', arguments: '' },
      ),
      { tools: ['*'] },
    );
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    const results = (await session.data('tool.result')).sort((a, b) => a.n - b.n);
    expect(results.map(({ isError, error }) => (isError ? error?.code : 'ok'))).toEqual([
      'unknown_tool',
      'invalid_arguments',
      'invalid_arguments',
      'invalid_arguments',
      'invalid_arguments',
      'not_found',
      'tool_failed',
      'ok',
    ]);
    const effective = (await session.data('tool.call')).sort((a, b) => a.n - b.n).map((call) => call.effective);
    expect(effective.slice(0, 5)).toEqual([null, null, null, null, null]);
    expect(effective[7]).toEqual({});
    expect(await session.data('turn.error')).toEqual([]);
    expect(session.requests[1]?.problem).toBeUndefined();
  });

  it('L19 one policy on four seams: allowed, rejected, and gone when it is removed at run time', async () => {
    const spec = { name: 'everywhere', tools: ['list_dir'] };
    const allowed = await system.create(callsThenDone({ name: 'list_dir' }), spec);
    expect(await allowed.prompt('look')).toEqual({ kind: 'completed' });
    const source = { kind: 'policy', name: 'everywhere/test' };
    expect(await allowed.data('context.message')).toMatchObject([
      { content: text('Welcome.'), source },
      { content: text('Noted.'), source },
    ]);
    expect(await allowed.data('user.message')).toMatchObject([{ content: text('look') }]);
    expect(await allowed.data('tool.result')).toMatchObject([{ isError: false }]);
    expect((await allowed.types()).filter((type) => type.startsWith('hook.'))).toEqual([]);

    const rejected = await system.create(callsThenDone(), spec);
    expect(await rejected.prompt('destroy it')).toEqual({ kind: 'rejected', reason: 'not that' });
    expect(rejected.requests).toEqual([]);

    await system.removePolicies('everywhere');
    const free = await system.create([{ text: 'as you wish' }], spec);
    expect(await free.prompt('destroy it')).toEqual({ kind: 'completed' });
    expect(free.requests).toHaveLength(1);
    expect(await free.data('user.message')).toMatchObject([{ content: text('destroy it') }]);
    expect(await free.data('policy.decided')).toEqual([]);
  });
});
