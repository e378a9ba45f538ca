import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryWorkspace, textOf, type TestWorkspace } from '../tool/context.fixture.spec.js';
import { ToolModules } from './tool-modules.js';

const MODULE = `
import { threadId } from 'node:worker_threads';
const tool = (name, run, idempotent = false) => ({
  ...{ name, description: name, inputSchema: { type: 'object' }, readonly: false, idempotent },
  ...{ fit: (value) => ({ ok: true, value }), run },
});
const untilAborted = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
const exhaust = () => { for (const kept = []; ;) kept.push(new Array(100_000).fill(kept.length)); };
export default [
  tool('thread', () => String(threadId)),
  tool('facts', (args, { workspace, signal, progress, log, ...facts }) => {
    progress('begun');
    log.warn('careful', { run: () => 1 });
    log.info('plain', { args });
    return { content: [], output: { ...facts, args, root: workspace.root } };
  }),
  tool('fails', () => { throw Object.assign(new RangeError('too far'), { code: 'far' }); }),
  tool('functions', () => () => 1),
  tool('waits', async (_args, { signal, progress }) => {
    progress('waiting');
    await untilAborted(signal);
    progress(signal.reason.code);
    return 'stopped';
  }),
  tool('exits', () => process.exit(3)),
  tool('exits_again', () => process.exit(3), true),
  tool('exhausts', exhaust, true),
  tool('rejects', () => { void Promise.reject(new Error('nobody')); return new Promise(() => undefined); }, true),
  tool('throws_later', () => { setTimeout(() => { throw new Error('late'); }, 1); return new Promise(() => undefined); }, true),
  tool('spins', (_args, { progress }) => { progress('spinning'); for (;;); }, true),
];
`;

let place: TestWorkspace;
let modules: ToolModules;
beforeAll(async () => {
  place = await temporaryWorkspace();
  await writeFile(join(place.outside, 'tools.mjs'), MODULE);
  modules = await ToolModules.load({ names: ['./tools.mjs'], folder: place.outside, heapMb: 64 });
});
afterAll(async () => {
  await modules.close();
  await place.remove();
});

const call = (name: string, more: Parameters<TestWorkspace['run']>[2] = {}, args: Record<string, unknown> = {}) =>
  place.run(
    modules.tools.find((tool) => tool.name === name)!,
    args,
    more,
  );
/** A call that is aborted once it says something, and what it said. */
async function aborted(name: string) {
  const controller = new AbortController();
  const said: string[] = [];
  const progress = (text: string) => {
    said.push(text);
    controller.abort();
  };
  return { result: await call(name, { signal: controller.signal, progress }), said };
}

describe('the tools of modules', () => {
  it('run in a thread that is not this one, and is used again', async () => {
    const first = textOf(await call('thread'));
    expect(Number(first)).toBeGreaterThan(0);
    expect(textOf(await call('thread'))).toBe(first);
  });

  it('get the arguments and the facts of the call, and are heard', async () => {
    const heard: unknown[] = [];
    const log = {
      info: (...line: unknown[]) => heard.push(line),
      warn: (...line: unknown[]) => heard.push(line),
    };
    const progress = (text: string) => heard.push(text);
    const { output } = await call('facts', { progress, log, callId: 'c7' }, { a: 1 });
    expect(output).toEqual({
      ...{ tenant: 'acme', session: 's1', callId: 'c7', effectId: 'e1', sandbox: 'none', limitMs: 120_000 },
      ...{ args: { a: 1 }, root: place.root },
    });
    expect(heard).toEqual(['begun', ['careful', undefined], ['plain', { args: { a: 1 } }]]);
  });

  it('fail with the name, the code and the words of what they threw', async () => {
    const failed = await call('fails');
    expect(failed.error).toEqual({ name: 'RangeError', code: 'far' });
    expect(textOf(failed)).toContain('too far');
    expect((await call('functions')).error?.code).toBe('invalid_result');
  });

  it('are told of an abort, and why', async () => {
    const { result, said } = await aborted('waits');
    expect(said).toEqual(['waiting', 'aborted']);
    expect(textOf(result)).toContain('stopped');
  });

  it.each([
    ['exits', 'outcome_unknown', 'exit code 3'],
    ['exits_again', 'tool_ended', 'exit code 3'],
    ['exhausts', 'tool_ended', 'exhausted the memory of its thread (64 MiB)'],
    ['rejects', 'tool_ended', 'nobody'],
    ['throws_later', 'tool_ended', 'late'],
  ])('%s ends its own call alone, as %s', async (name, code, words) => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<string>();
    const beside = call('waits', { signal: controller.signal, progress: begun.resolve });
    await begun.promise;
    const ended = await call(name);
    expect(ended.error?.code).toBe(code);
    expect(textOf(ended)).toContain(words);
    controller.abort();
    expect(textOf(await beside)).toContain('stopped');
  });

  it('that never yield are ended after their abort, and calls beside them go on', async () => {
    const spinning = aborted('spins');
    expect(Number(textOf(await call('thread')))).toBeGreaterThan(0);
    expect((await spinning).result.error?.code).toBe('aborted');
  });

  it('run as many at once as are called, each in a thread of its own', async () => {
    const waiting = Array.from({ length: 6 }, () => aborted('waits'));
    for (const { said } of await Promise.all(waiting)) expect(said).toEqual(['waiting', 'aborted']);
  });

  it('run no more once they are closed', async () => {
    const closed = await ToolModules.load({ names: ['./tools.mjs'], folder: place.outside });
    await closed.close();
    const result = await place.run(closed.tools[0]!, {});
    expect(result.error?.code).toBe('tool_unavailable');
  });
});
