import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AgentSpecInput } from '@jetloop/contracts';
import { defineTool } from '@jetloop/tool-runner';
import { z } from 'zod';
import { bash, calls, resultsOf, textIn, type Call } from '../support/scripted-calls.js';
import { TestSystem } from '../support/test-system.js';

jest.setTimeout(90_000);

/** One normal use of every tool, each on what the one before left behind. */
const uses: [...Call, expected: RegExp][] = [
  ['write_file', { path: 'a/one.txt', content: 'alpha\nbeta\n' }, /^Created a\/one\.txt/],
  ['read_file', { path: 'a/one.txt' }, /^alpha\nbeta/],
  ['edit_file', { path: 'a/one.txt', oldText: 'beta', newText: 'gamma' }, /^Replaced 1 match/],
  ['multi_edit', { path: 'a/one.txt', edits: [{ oldText: 'alpha', newText: 'delta' }] }, /^Made 1 edits/],
  ['list_dir', { path: 'a' }, /^one\.txt {2}12/],
  ['glob', { pattern: '**/*.txt' }, /a\/one\.txt/],
  ['grep', { pattern: 'gamma' }, /^a\/one\.txt:2:gamma/],
  ['move', { from: 'a/one.txt', to: 'a/two.txt' }, /^Moved/],
  ['bash', { command: 'cat a/two.txt' }, /^delta\ngamma\nexit code 0/],
  ['remove', { path: 'a', recursive: true }, /^Removed a \(2 entries\)/],
];
const refusals: [...Call, code: string][] = [
  ['write_file', { path: '../x', content: 'x' }, 'outside_workspace'],
  ['read_file', { path: 'absent' }, 'not_found'],
  ['edit_file', { path: 'kept.txt', oldText: 'nothing', newText: 'x' }, 'no_match'],
  ['multi_edit', { path: 'kept.txt', edits: [{ oldText: 'nothing', newText: 'x' }] }, 'no_match'],
  ['list_dir', { path: 'kept.txt' }, 'not_a_directory'],
  ['glob', { pattern: '**/*.txt', path: '/etc' }, 'outside_workspace'],
  ['grep', { pattern: '(' }, 'search_failed'],
  ['move', { from: 'absent', to: 'x' }, 'not_found'],
  ['bash', { command: 'exit 3' }, 'exit_code'],
  ['remove', { path: '.' }, 'is_a_directory'],
];
const limits: [...Call, expected: RegExp, code?: string][] = [
  ['read_file', { path: 'many/lines', limit: 2 }, /^1\n2\n\s*\[lines 1 to 2 of 3; go on with offset 3\]$/],
  ['list_dir', { path: 'many', limit: 1 }, /\[1 more entries; go on with offset 1\]$/],
  ['glob', { pattern: 'many/*', limit: 1 }, /\[more than 1 files match/],
  ['grep', { pattern: '.', path: 'many', limit: 1 }, /\[more than 1 lines/],
  ['bash', { command: 'sleep 60', timeoutMs: 200 }, /ended after its limit of 200 ms$/, 'timeout'],
];
const escapes = [
  ...['..', '../', '../x', './../x', 'd/../../x', 'd/e/../../../x', 'd//..//..//x', 'missing/../../x'],
  ...['d/f\0/../../x', '\0', '/', '/etc/passwd', '//etc/passwd', '/proc/self/environ', '/dev/null'],
  ...['/etc/../etc/passwd', '/proc/self/root/etc/passwd', 'to-slash/etc/passwd', 'to-slash/new/file', 'to-file'],
  ...['d/../to-file', 'to-up/x', 'd/up/x', 'to-etc/passwd', 'chain/etc/passwd', 'to-proc/etc/passwd'],
  ...['good/../../x', 'good/up/x', 'loop-a', 'dangling'],
];
const malformed: [string, RegExp][] = [
  ['{"path":".', /not valid JSON/],
  ['{"path":', /not valid JSON/],
  ['{"path":".",}', /not valid JSON/],
  ["{'path':'.'}", /not valid JSON/],
  ['{path:"."}', /not valid JSON/],
  ['```json\n{"path":"."}\n```', /not valid JSON/],
  ['{"path":"."}{"path":"a"}', /not valid JSON/],
  ['{"path":"a\nb"}', /not valid JSON/],
  ['{"path":".","limit":NaN}', /not valid JSON/],
  ['["."]', /an array/],
  ['null', /got null/],
  ['42', /a number/],
  ['"{\\"path\\":\\".\\"}"', /a string/],
  ['{"path":".","path":".."}', /key "path" is there twice/],
  [`{"path":${'['.repeat(200)}${']'.repeat(200)}}`, /more than 100 levels/],
  ['{"path":"\\ud83d"}', /half a character/],
  ['{"path":".","limit":1e999}', /too large/],
  ['{"path":7}', /path: .*expected string/i],
  ['{"pathh":"."}', /unknown key "pathh"; allowed: path/],
  ['{"limit":0}', /limit/],
];

const targets = {
  uses: calls(...uses.map(([name, args]): Call => [name, args])),
  refusals: calls(...refusals.map(([name, args]): Call => [name, args])),
  limits: calls(...limits.map(([name, args]): Call => [name, args])),
  'escapes-read': calls(...escapes.map((path): Call => ['read_file', { path }])),
  'escapes-written': calls(...escapes.map((path): Call => ['write_file', { path, content: 'x' }])),
  malformed: calls(...malformed.map(([text]): Call => ['list_dir', text]), ['list_dir', '']),
  writes: calls(
    ['write_file', { path: 'readonly.txt', content: 'x' }],
    ['edit_file', { path: 'kept.txt', oldText: 'kept', newText: 'lost' }],
    bash('touch readonly.txt'),
    ['touch'],
    ['list_dir', { path: '.' }],
  ),
  looks: calls(['read_file', { path: 'kept.txt' }]),
};

const MEETING = 10;
/** How to end the calls of `meet` that have begun. */
const met: (() => void)[] = [];
/** Resolves when the first call of `meet` may end. */
const othersEnded = Promise.withResolvers<undefined>();
const extra = [
  defineTool({
    name: 'touch',
    description: 'Makes a file.',
    input: z.object({}),
    idempotent: true,
    run: (_args, { workspace }) => writeFile(join(workspace.root, 'readonly.txt'), '').then(() => 'made'),
  }),
  defineTool({
    name: 'meet',
    description: 'Ends when ten calls of it run, the first one last.',
    input: z.object({ n: z.number() }),
    readonly: true,
    async run({ n }) {
      await new Promise<void>((resolve) => {
        if (met.push(resolve) === MEETING) for (const end of met) end();
      });
      if (n === 0) await othersEnded.promise;
      return `met ${n}`;
    },
  }),
];

describe('tools', () => {
  let system: TestSystem;
  beforeAll(async () => {
    const toolRunner = { httpFetch: { addresses: ['127.0.0.1'] } };
    system = await TestSystem.start({ targets, tools: extra, toolRunner });
    await writeFile(join(system.workspace, 'kept.txt'), 'kept');
    await mkdir(join(system.workspace, 'd/e'), { recursive: true });
    await mkdir(join(system.workspace, 'many'));
    for (const name of ['lines', 'more']) await writeFile(join(system.workspace, 'many', name), '1\n2\n3\n');
    const links = {
      ...{ 'to-slash': '/', 'to-file': '/etc/passwd', 'to-up': '..', 'to-etc': '/etc', 'to-proc': '/proc/self/root' },
      ...{ chain: 'to-slash', 'd/up': '../..', good: 'd', 'loop-a': 'loop-b', 'loop-b': 'loop-a', dangling: '/none/x' },
    };
    await Promise.all(Object.entries(links).map(([name, to]) => symlink(to, join(system.workspace, name))));
  });
  afterAll(() => system.stop());

  const agent = (target: string, more: Partial<AgentSpecInput> = {}) =>
    system.create(target, { tools: ['*'], ...more });

  it('T1 every built-in tool: its normal use', async () => {
    const results = await resultsOf(system, await agent('uses'));
    expect(results).toHaveLength(uses.length);
    results.forEach((result, n) => {
      expect({ tool: uses[n]?.[0], isError: result.isError, text: textIn(result) }).toEqual({
        tool: uses[n]?.[0],
        isError: false,
        text: expect.stringMatching(uses[n]?.[2] ?? /^$/),
      });
    });
  });

  it('T1 every built-in tool: a refusal, with a code and without the path of the host', async () => {
    const results = await resultsOf(system, await agent('refusals'));
    expect(results.map(({ isError, error }) => isError && error?.code)).toEqual(refusals.map(([, , code]) => code));
    expect(JSON.stringify(results)).not.toContain(system.workspace);
  });

  it('T1 limits: a page of lines, of entries, of matches, and the time of a command', async () => {
    const results = await resultsOf(system, await agent('limits'));
    expect(results).toHaveLength(limits.length);
    results.forEach((result, n) => {
      const [tool, , expected, code] = limits[n]!;
      expect({ tool, text: textIn(result), code: result.error?.code }).toEqual({
        ...{ tool, text: expect.stringMatching(expected), code },
      });
    });
  });

  it('T1 http_fetch: an address that is listed is fetched, the others are refused', async () => {
    const server = createServer((_request, response) => response.end('a page')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const urls = ['127.0.0.1', '127.0.0.2', '169.254.169.254', '10.0.0.1'].map((host) => `http://${host}:${port}/`);
    const fetches = urls.map((url) => ({ name: 'http_fetch', arguments: { url } }));
    const session = await system.create([{ calls: fetches }, { text: 'done' }], { tools: ['http_fetch'] });
    const [page, ...refused] = await resultsOf(system, session);
    server.close();
    expect(page).toMatchObject({ isError: false, output: { status: 200 } });
    expect(textIn(page)).toMatch(/^200 .*\n\na page$/);
    expect(refused.map(({ error }) => error?.code)).toEqual(Array.from({ length: 3 }, () => 'address_refused'));
  });

  it.each(['read', 'written'])('T2 thirty paths that lead out are refused when they are %s', async (how) => {
    const results = await resultsOf(system, await agent(`escapes-${how}`));
    expect(results).toHaveLength(30);
    for (const [n, { isError, error }] of results.entries())
      expect({ path: escapes[n], isError, code: error?.code }).toEqual({
        ...{ path: escapes[n], isError: true },
        code: expect.stringMatching(/^(outside_workspace|invalid_path)$/),
      });
    expect(JSON.stringify(results)).not.toMatch(/root:|PATH=/);
  });

  it('T3 malformed arguments are answered with what was expected, and logged as they came; none are an empty object', async () => {
    const session = await agent('malformed');
    const results = await resultsOf(system, session);
    expect(results).toHaveLength(malformed.length + 1);
    const raw = (await session.data('tool.call')).map(({ arguments: text }) => text);
    expect(raw.slice(0, malformed.length)).toEqual(malformed.map(([text]) => text));
    malformed.forEach(([, expected], n) => {
      expect(results[n]).toMatchObject({ isError: true, error: { code: 'invalid_arguments' } });
      expect(textIn(results[n])).toMatch(expected);
    });
    expect(results.at(-1)?.isError).toBe(false);
  });

  it('T10 a readonly session is not offered what writes, and is refused it as readonly mode', async () => {
    const session = await agent('writes', { readonly: true });
    const results = await resultsOf(system, session);
    const refused = results.slice(0, -1);
    expect(refused).toHaveLength(4);
    for (const result of refused) {
      expect(result).toMatchObject({ isError: true, error: { code: 'readonly' } });
      expect(textIn(result)).toContain('readonly mode');
    }
    expect(results.at(-1)?.isError).toBe(false);
    const names = (await session.data('tools.listed'))[0]?.tools.map(({ name }) => name);
    expect(names).toContain('list_dir');
    for (const name of ['write_file', 'edit_file', 'bash', 'touch']) expect(names).not.toContain(name);
    await expect(readFile(join(system.workspace, 'readonly.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile(join(system.workspace, 'kept.txt'), 'utf8')).toBe('kept');
  });

  it('T11 ten readonly calls in one step run at once: the model reads their results in call order, whoever ends first', async () => {
    const order = Array.from({ length: MEETING }, (_, n) => n);
    const meeting = order.map((n) => ({ name: 'meet', arguments: { n } }));
    const session = await system.create([{ calls: meeting }, { text: 'done' }], { tools: ['meet'] });
    const end = await session.begin('go');
    await session.until('tool.result', MEETING - 1);
    othersEnded.resolve(undefined);
    expect(await end()).toEqual({ kind: 'completed' });
    const logged = (await session.data('tool.result')).map(({ n }) => n);
    expect(logged.toSorted((a, b) => a - b)).toEqual(order);
    expect(logged.at(-1)).toBe(0);
    const seen = session.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(seen.map(({ content }) => content)).toEqual(order.map((n) => `met ${n}`));
  });

  it('the tools of the loop itself are listed where the agent names them, and only there', async () => {
    const names = async (tools: string[]) => {
      const session = await agent('looks', { tools });
      await session.prompt('go');
      return (await session.data('tools.listed'))[0]?.tools.map(({ name }) => name);
    };
    expect(await names(['*'])).not.toContain('ask_user');
    expect(await names(['read_file', 'ask_user', 'todo_write', 'spawn_agent'])).toEqual([
      'ask_user',
      'read_file',
      'spawn_agent',
      'todo_write',
    ]);
  });
});
