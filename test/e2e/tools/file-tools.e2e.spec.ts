import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realpathSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
const edit = (oldText: string, newText: string) => ({ oldText, newText });
const refusals: [...Call, code: string][] = [
  ['write_file', { path: '../x', content: 'x' }, 'outside_workspace'],
  ['write_file', { path: 'd', content: 'x' }, 'is_a_directory'],
  ['write_file', { path: 'kept.txt/x', content: 'x' }, 'not_a_directory'],
  ['read_file', { path: 'absent' }, 'not_found'],
  ['edit_file', { path: 'kept.txt', oldText: 'nothing', newText: 'x' }, 'no_match'],
  ['edit_file', { path: 'many/lines', oldText: '\n', newText: 'x' }, 'many_matches'],
  ['edit_file', { path: 'kept.txt', oldText: 'kept', newText: 'kept' }, 'no_change'],
  ['edit_file', { path: 'huge', oldText: 'a', newText: 'b' }, 'too_large'],
  ['edit_file', { path: 'latin-1', oldText: 'a', newText: 'b' }, 'not_text'],
  ['multi_edit', { path: 'kept.txt', edits: [{ oldText: 'nothing', newText: 'x' }] }, 'no_match'],
  ['multi_edit', { path: 'many/lines', edits: [edit('1', '0'), edit('\n', '')] }, 'many_matches'],
  ['list_dir', { path: 'kept.txt' }, 'not_a_directory'],
  ['glob', { pattern: '**/*.txt', path: '/etc' }, 'outside_workspace'],
  ['grep', { pattern: '(' }, 'search_failed'],
  ['move', { from: 'absent', to: 'new/x' }, 'not_found'],
  ['move', { from: 'kept.txt', to: 'many/lines' }, 'exists'],
  ['move', { from: 'kept.txt', to: 'many', overwrite: true }, 'exists'],
  ['move', { from: 'many', to: 'many/within' }, 'invalid_path'],
  ['bash', { command: 'exit 3' }, 'exit_code'],
  ['remove', { path: '.' }, 'is_a_directory'],
  ['remove', { path: 'many' }, 'not_empty'],
  ['remove', { path: 'absent' }, 'not_found'],
];
const limits: [...Call, expected: RegExp, code?: string][] = [
  ['read_file', { path: 'many/lines', limit: 2 }, /^1\n2\n\s*\[lines 1 to 2 of 3; go on with offset 3\]$/],
  ['list_dir', { path: 'many', limit: 1 }, /\[1 more entries; go on with offset 1\]$/],
  ['glob', { pattern: 'many/*', limit: 1 }, /\[more than 1 files match/],
  ['grep', { pattern: '.', path: 'many', limit: 1 }, /\[more than 1 lines/],
  ['bash', { command: 'sleep 60', timeoutMs: 200 }, /ended after its limit of 200 ms$/, 'timeout'],
];
/** A name that nobody has outside of the workspace. */
const x = `jetloop-x-${process.pid}`;
const escapes = [
  ...[
    '..',
    '../',
    `../${x}`,
    `./../${x}`,
    `d/../../${x}`,
    `d/e/../../../${x}`,
    `d//..//..//${x}`,
    `missing/../../${x}`,
  ],
  ...[`d/f\0/../../${x}`, '\0', '/', '/etc/passwd', '//etc/passwd', '/proc/self/environ', '/dev/null'],
  ...['/etc/../etc/passwd', '/proc/self/root/etc/passwd', 'to-slash/etc/passwd', `to-slash/${x}/file`, 'to-file'],
  ...['d/../to-file', `to-up/${x}`, `d/up/${x}`, 'to-etc/passwd', 'chain/etc/passwd', 'to-proc/etc/passwd'],
  ...[`good/../../${x}`, `good/up/${x}`, 'loop-a', 'dangling'],
];
const links = {
  ...{ 'to-slash': '/', 'to-file': '/etc/passwd', 'to-up': '..', 'to-etc': '/etc', 'to-proc': '/proc/self/root' },
  ...{ chain: 'to-slash', 'd/up': '../..', good: 'd', 'loop-a': 'loop-b', 'loop-b': 'loop-a', dangling: '/none/x' },
};
/** A folder beside the workspace, with a file. */
const beside = `jetloop-beside-${process.pid}`;
const besidePath = join(realpathSync(tmpdir()), beside);
const waysBeside = [
  ...[`../${beside}`, besidePath, `d/../../${beside}`, `missing/../../${beside}`, `to-up/${beside}`, `d/up/${beside}`],
  ...[`good/up/${beside}`, `to-slash${besidePath}`, `chain${besidePath}`, `to-proc${besidePath}`],
];
const strayed: [tool: string, argumentsFor: (folder: string) => object][] = [
  ['edit_file', (folder) => ({ path: `${folder}/file`, ...edit('treasure', x) })],
  ['multi_edit', (folder) => ({ path: `${folder}/file`, edits: [edit('treasure', x)] })],
  ['list_dir', (path) => ({ path })],
  ['glob', (path) => ({ pattern: '*', path })],
  ['grep', (path) => ({ pattern: 'treasure', path })],
  ['move', (folder) => ({ from: `${folder}/file`, to: x })],
  ['move', (folder) => ({ from: 'kept.txt', to: `${folder}/${x}` })],
  ['remove', (path) => ({ path, recursive: true })],
  ['bash', (workdir) => ({ command: `cat file; touch ${x}`, workdir })],
];
const strayCalls = strayed.flatMap(([tool, argumentsFor]) =>
  waysBeside.map((folder): Call => [tool, argumentsFor(folder)]),
);
const noObject = (reason: string) => new RegExp(`expected the arguments as one JSON object, but ${reason}`);
const notJson = noObject('the text is not valid JSON');
const malformed: [string, RegExp][] = [
  ['{"path":".', notJson],
  ['{"path":', notJson],
  ['{"path":".",}', notJson],
  ["{'path':'.'}", notJson],
  ['{path:"."}', notJson],
  ['```json\n{"path":"."}\n```', notJson],
  ['{"path":"."}{"path":"a"}', notJson],
  ['{"path":"a\nb"}', notJson],
  ['{"path":".","limit":NaN}', notJson],
  ['["."]', noObject('got an array')],
  ['null', noObject('got null')],
  ['42', noObject('got a number')],
  ['"{\\"path\\":\\".\\"}"', noObject('got a string')],
  ['{"path":".","path":".."}', noObject('the key "path" is there twice; give each key once')],
  [`{"path":${'['.repeat(200)}${']'.repeat(200)}}`, noObject('it is nested more than 100 levels deep')],
  ['{"path":"\\ud83d"}', noObject('a string holds half a character')],
  ['{"path":".","limit":1e999}', noObject('it holds a number that is too large')],
  ['{"path":7}', /path: .*expected string/i],
  ['{"pathh":"."}', /unknown key "pathh"; allowed: path/],
  ['{"limit":0}', /limit: .*expected number to be >=1/],
];

const targets = {
  uses: calls(...uses.map(([name, args]): Call => [name, args])),
  refusals: calls(...refusals.map(([name, args]): Call => [name, args])),
  limits: calls(...limits.map(([name, args]): Call => [name, args])),
  'escapes-read': calls(...escapes.map((path): Call => ['read_file', { path }])),
  'escapes-written': calls(...escapes.map((path): Call => ['write_file', { path, content: 'x' }])),
  'escapes-elsewhere': calls(...strayCalls),
  malformed: calls(...malformed.map(([text]): Call => ['list_dir', text]), ['list_dir', '']),
  writes: calls(
    ['write_file', { path: 'readonly.txt', content: 'x' }],
    ['edit_file', { path: 'kept.txt', oldText: 'kept', newText: 'lost' }],
    ['multi_edit', { path: 'kept.txt', edits: [edit('kept', 'lost')] }],
    ['move', { from: 'kept.txt', to: 'readonly.txt' }],
    ['remove', { path: 'kept.txt' }],
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
    await writeFile(join(system.workspace, 'latin-1'), Buffer.from([0x61, 0xe9]));
    await writeFile(join(system.workspace, 'huge'), 'a');
    await truncate(join(system.workspace, 'huge'), 16 * 1024 * 1024 + 1);
    await mkdir(besidePath);
    await writeFile(join(besidePath, 'file'), 'a treasure');
    for (const name of ['lines', 'more']) await writeFile(join(system.workspace, 'many', name), '1\n2\n3\n');
    await Promise.all(Object.entries(links).map(([name, to]) => symlink(to, join(system.workspace, name))));
  });
  afterAll(async () => {
    await system.stop();
    await rm(besidePath, { recursive: true });
  });

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

  it('T1 every built-in tool: its refusals, with a code, without the path of the host, and nothing is changed', async () => {
    const results = await resultsOf(system, await agent('refusals'));
    expect(results.map(({ isError, error }) => isError && error?.code)).toEqual(refusals.map(([, , code]) => code));
    expect(JSON.stringify(results)).not.toContain(system.workspace);
    const contents = ['kept.txt', 'many/lines'].map((name) => readFile(join(system.workspace, name), 'utf8'));
    expect(await Promise.all(contents)).toEqual(['kept', '1\n2\n3\n']);
    expect(await readdir(join(system.workspace, 'many'))).toEqual(['lines', 'more']);
    expect(await system.holds('new')).toBe(false);
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

  it('T1 http_fetch: an address that is listed is fetched, at a limit; the others are refused, by a redirect too', async () => {
    const large = `first ${'x'.repeat(200_000)} last`;
    const server = createServer(({ url }, response) => {
      if (url === '/away') response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end();
      else response.end(url === '/large' ? large : 'a page');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const places = [`127.0.0.1:${port}/`, `127.0.0.1:${port}/large`, `127.0.0.1:${port}/away`];
    const hosts = ['127.0.0.2', '169.254.169.254', '10.0.0.1'].map((host) => `${host}:${port}/`);
    const fetches = [...places, ...hosts].map((at) => ({ name: 'http_fetch', arguments: { url: `http://${at}` } }));
    const session = await system.create([{ calls: fetches }, { text: 'done' }], { tools: ['http_fetch'] });
    const [page, cut, ...refused] = await resultsOf(system, session);
    server.close();
    expect(page).toMatchObject({ isError: false, output: { status: 200 } });
    expect(textIn(page)).toMatch(/^200 .*\n\na page$/);
    expect(cut).toMatchObject({ isError: false, output: { truncated: true, totalBytes: large.length } });
    expect(textIn(cut)).toMatch(/^200 .*\n\nfirst x+[^]*x+ last$/);
    expect(textIn(cut).length).toBeLessThanOrEqual(64 * 1024);
    expect(refused.map(({ error }) => error?.code)).toEqual(Array.from({ length: 4 }, () => 'address_refused'));
  });

  it.each(['read', 'written'])('T2 thirty paths that lead out are refused when they are %s', async (how) => {
    const passwords = await readFile('/etc/passwd', 'utf8');
    const results = await resultsOf(system, await agent(`escapes-${how}`));
    expect(results).toHaveLength(30);
    for (const [n, { isError, error }] of results.entries())
      expect({ path: escapes[n], isError, code: error?.code }).toEqual({
        ...{ path: escapes[n], isError: true },
        code: expect.stringMatching(/^(outside_workspace|invalid_path)$/),
      });
    expect(JSON.stringify(results)).not.toMatch(/root:|PATH=/);
    for (const made of [join(dirname(system.workspace), x), join('/', x), '/none'])
      await expect(lstat(made)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile('/etc/passwd', 'utf8')).toBe(passwords);
    for (const [link, to] of Object.entries(links)) expect(await readlink(join(system.workspace, link))).toBe(to);
  });

  it('T2 every other tool refuses the paths that lead out, at each of its arguments, and changes nothing there', async () => {
    const results = await resultsOf(system, await agent('escapes-elsewhere'));
    expect(results).toHaveLength(strayed.length * waysBeside.length);
    for (const [n, { isError, error }] of results.entries())
      expect({ call: strayCalls[n], isError, code: error?.code }).toEqual({
        ...{ call: strayCalls[n], isError: true, code: 'outside_workspace' },
      });
    expect(JSON.stringify(results)).not.toContain('treasure');
    expect(await readdir(besidePath)).toEqual(['file']);
    expect(await readFile(join(besidePath, 'file'), 'utf8')).toBe('a treasure');
    expect(await system.holds('kept.txt')).toBe(true);
    expect(await system.holds(x)).toBe(false);
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
    expect(refused).toHaveLength(7);
    for (const result of refused) {
      expect(result).toMatchObject({ isError: true, error: { code: 'readonly' } });
      expect(textIn(result)).toContain('readonly mode');
    }
    expect(results.at(-1)?.isError).toBe(false);
    const names = (await session.data('tools.listed'))[0]?.tools.map(({ name }) => name);
    expect(names).toContain('list_dir');
    for (const name of ['write_file', 'edit_file', 'multi_edit', 'move', 'remove', 'bash', 'touch'])
      expect(names).not.toContain(name);
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
