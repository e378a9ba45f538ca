import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { textOf, type AgentSpecInput, type EventData } from '@jetloop/contracts';
import { BlobStore } from '@jetloop/messaging';
import { defineTool } from '@jetloop/tool-runner';
import { z } from 'zod';
import { expectCut } from './support/expect-cut.js';
import { calls, type Call } from './support/scripted-calls.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

jest.setTimeout(90_000);

const require = createRequire(import.meta.url);
const programOf = (name: string) => require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
const published = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [programOf(name), ...args],
});
const moodyFile = join(import.meta.dirname, '../fixtures/mcp/moody.mjs');
const moody = (env: Record<string, string> = {}, more = {}) => ({
  ...{ command: process.execPath, args: [moodyFile], env },
  ...more,
});

const everything = [
  ['everything__echo', { message: 'hello' }],
  ['everything__get-sum', { a: 20, b: 22 }],
  ['everything__get-tiny-image'],
  ['everything__get-structured-content', { location: 'New York' }],
  ['everything__get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['everything__trigger-long-running-operation', { duration: 1, steps: 4 }],
  ['everything__get-sum', { a: 'twenty' }],
] as const satisfies Call[];

const LONG = 'a-name-of-ninety-characters-'.padEnd(90, 'x');
const targets = {
  everything: calls(...everything),
  'long-running': calls(['everything__trigger-long-running-operation', { duration: 60, steps: 120 }]),
  'six-seconds': calls(['everything__trigger-long-running-operation', { duration: 6, steps: 60 }]),
  silent: calls(['everything__trigger-long-running-operation', { duration: 30, steps: 1 }]),
  filesystem: calls(
    ['files__write_file', { path: 'note.txt', content: 'kept' }],
    ['files__read_text_file', { path: 'note.txt' }],
    ['files__read_text_file', { path: '/etc/hostname' }],
  ),
  memory: calls(
    ['memory__create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes numbers'] }] }],
    ['memory__search_nodes', { query: 'numbers' }],
  ),
  'wrong-memory': calls(['memory__create_entities', { entities: 'none' }]),
  says: calls(['moody__say', { word: 'yes' }]),
  much: calls(['moody__much', { characters: 250_001 }]),
  'too-much': calls(['moody__too_much']),
  dies: calls(['moody__die']),
  grows: calls(['moody__grow']),
  'held-dropped': calls(['moody__hold', { name: 'dropped' }]),
  'held-kept': calls(['moody__hold', { name: 'kept' }]),
};

describe('MCP servers', () => {
  let system: TestSystem;
  const remote: ChildProcess[] = [];
  beforeAll(async () => {
    const tools = [
      defineTool({ name: 'taken__say', description: '', input: z.object({}), readonly: true, run: () => 'own' }),
    ];
    system = await TestSystem.start({ targets, tools, toolRunner: { mcpAddresses: ['127.0.0.1'] } });
  });
  afterAll(async () => {
    await system.stop();
    for (const child of remote) child.kill('SIGKILL');
  });

  const agent = (target: string, servers: AgentSpecInput['mcpServers'], more: Partial<AgentSpecInput> = {}) =>
    system.create(target, { tools: ['*'], mcpServers: servers ?? {}, ...more });
  async function resultsOf(session: TestSession): Promise<EventData<'tool.result'>[]> {
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    return session.data('tool.result');
  }
  const saidBy = (result: EventData<'tool.result'> | undefined) =>
    JSON.parse(textOf(result?.content ?? [])) as {
      name: string;
      pid: number;
      cancelled: string[];
      effect: string;
      args: unknown;
      knowsSecret?: string;
    };
  async function listed(session: TestSession) {
    return (await session.data('tools.listed')).at(-1);
  }
  /** A server that listens on a port of its own. */
  async function serve(
    program: string,
    args: string[],
    env: (port: string) => Record<string, string>,
    ready: string,
    port?: string,
  ) {
    port ??= String(await freePort());
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    remote.push(child);
    await new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          if (chunk.toString().includes(ready)) resolve();
        });
    });
    return { child, port };
  }

  async function expectEverything(session: TestSession): Promise<void> {
    const results = await resultsOf(session);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, false, false, true]);
    const [echo, sum, image, structured, resource, slow, wrong] = results;
    expect(echo?.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    expect(textOf(sum?.content ?? [])).toContain('42');
    expect(image?.content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    expect(image?.content[1]).toMatchObject({ mediaType: 'image/png', base64: expect.stringMatching(/^iVBOR/) });
    expect(structured?.output).toMatchObject({ temperature: expect.any(Number) });
    expect(resource?.content.map(({ type }) => type)).toEqual(['text', 'resource', 'text']);
    expect(textOf(slow?.content ?? [])).toContain('completed');
    expect(textOf(wrong?.content ?? [])).toMatch(/expected number/);
  }

  it('T5 server-everything over stdio: list, call, image, structured content, resource, error, in call order', async () => {
    const session = await agent('everything', { everything: published('everything') });
    await expectEverything(session);
    const names = (await listed(session))?.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['bash', 'everything__echo', 'everything__get-tiny-image']));
  });

  it('T5 server-everything over streamable HTTP: the same', async () => {
    const session = await agent('everything', { everything: await reached['streamable HTTP']() });
    await expectEverything(session);
    const names = (await listed(session))?.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'everything__get-tiny-image']));
  });

  const reached = {
    stdio: () => Promise.resolve(published('everything')),
    'streamable HTTP': async () => {
      const env = (PORT: string) => ({ PORT });
      const { port } = await serve(programOf('everything'), ['streamableHttp'], env, 'listening on port');
      return { url: `http://127.0.0.1:${port}/mcp` };
    },
  };

  it.each(['stdio', 'streamable HTTP'] as const)(
    'T5 progress over %s is shown live, and a cancelled call ends alone: the server goes on',
    async (transport) => {
      const servers = { everything: await reached[transport]() };
      const session = await agent('long-running', servers);
      const seen = new Promise<string>((resolve) => {
        const subscription = system.bus.nats.subscribe(`live.${system.tenant}.${session.id}.tool`, {
          callback: (_error, message) => {
            subscription.unsubscribe();
            resolve(message.json<{ text: string }>().text);
          },
        });
      });
      const { messageId, sequence } = await system.client.prompt(session.id, 'go');
      expect(await seen).toMatch(/^\d+ of 120$/);
      await system.client.cancel(session.id);
      expect(await session.endOf(messageId, sequence)).toMatchObject({ kind: 'aborted' });
      const [result] = await session.data('tool.result');
      expect(result).toMatchObject({ isError: true });
      await expectEverything(await agent('everything', servers));
    },
  );

  it('T5 progress extends the limit of a call; one without progress ends at its limit', async () => {
    const servers = { everything: published('everything') };
    const limited = { deadlines: { tool: 4_000 } };
    const [slow, silent] = await Promise.all(
      ['six-seconds', 'silent'].map(async (target) => resultsOf(await agent(target, servers, limited))),
    );
    expect(slow).toMatchObject([{ isError: false, durationMs: expect.any(Number) }]);
    expect(slow?.[0]?.durationMs).toBeGreaterThan(5_000);
    expect(silent).toMatchObject([{ isError: true, error: { code: 'timeout' } }]);
  });

  const moodyReached = {
    stdio: (env: Record<string, string>) => Promise.resolve(moody(env)),
    'streamable HTTP': async (env: Record<string, string>) => {
      const { port } = await serve(moodyFile, [], (MOODY_PORT) => ({ ...env, MOODY_PORT }), 'listening');
      return { url: `http://127.0.0.1:${port}/` };
    },
  };

  it.each(['stdio', 'streamable HTTP'] as const)(
    'T5 a cancel over %s is told to the server for that request alone: a call beside it ends well in the same process',
    async (transport) => {
      const file = join(system.workspace, `held over ${transport}`);
      const servers = { moody: await moodyReached[transport]({ MOODY_HELD: file }) };
      const before = saidBy((await resultsOf(await agent('says', servers)))[0]);
      const dropped = await agent('held-dropped', servers);
      const kept = await agent('held-kept', servers);
      const endOfKept = await kept.begin('go');
      const endOfDropped = await dropped.begin('go');
      const names = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
      while ((await names()).length < 2) await sleep(10);
      await system.client.cancel(dropped.id);
      expect(await endOfDropped()).toMatchObject({ kind: 'aborted' });
      expect(await endOfKept()).toEqual({ kind: 'completed' });
      const [held] = await kept.data('tool.result');
      expect(held).toMatchObject({ isError: false });
      expect(saidBy(held)).toMatchObject({ args: { name: 'kept' }, pid: before.pid, cancelled: ['dropped'] });
      const after = saidBy((await resultsOf(await agent('says', servers)))[0]);
      expect(after).toMatchObject({ pid: before.pid, cancelled: ['dropped'] });
      expect((await names()).toSorted()).toEqual(['dropped', 'kept']);
    },
  );

  it('T5 server-filesystem and server-memory: what one call writes, the next one finds; what lies outside is refused', async () => {
    await writeFile(join(system.workspace, 'note.txt'), '');
    const memory = { ...published('memory'), env: { MEMORY_FILE_PATH: join(system.workspace, 'memory.jsonl') } };
    const files = published('filesystem', system.workspace);
    const filing = await agent('filesystem', { files });
    const [wrote, read, refused] = await resultsOf(filing);
    expect([wrote?.isError, read?.isError, refused?.isError]).toEqual([false, false, true]);
    expect(textOf(read?.content ?? [])).toContain('kept');
    expect(await readFile(join(system.workspace, 'note.txt'), 'utf8')).toBe('kept');
    expect(textOf(refused?.content ?? [])).toMatch(/outside allowed directories/);
    const remembering = await agent('memory', { memory });
    const [made, found] = await resultsOf(remembering);
    expect([made?.isError, found?.isError]).toEqual([false, false]);
    expect(found?.output).toMatchObject({ entities: [{ name: 'Ada', observations: ['likes numbers'] }] });
    const [wrong] = await resultsOf(await agent('wrong-memory', { memory }));
    expect(wrong?.isError).toBe(true);
    expect(textOf(wrong?.content ?? [])).toMatch(/expected array/);
    const names = async (session: TestSession) => (await listed(session))?.tools.map(({ name }) => name) ?? [];
    expect(await names(filing)).toEqual(expect.arrayContaining(['files__read_text_file', 'files__write_file']));
    expect(await names(remembering)).toEqual(expect.arrayContaining(['memory__read_graph', 'memory__search_nodes']));
  });

  it('T6 names of 90 characters, with dots, and twice the same are made to fit; the raw name goes on the wire', async () => {
    const session = await agent('says', { moody: moody() });
    const [said] = await resultsOf(session);
    expect(saidBy(said)).toMatchObject({
      name: 'say',
      args: { word: 'yes' },
      effect: `${system.tenant}.${session.id}.1.1.0`,
    });
    const names = ((await listed(session))?.tools ?? [])
      .map(({ name }) => name)
      .filter((name) => name.startsWith('moody'));
    expect(names).toHaveLength(10);
    expect(new Set(names).size).toBe(10);
    expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
    const fitted = names.filter((name) => /_[0-9a-f]{10}$/.test(name)).sort();
    expect(fitted.map((name) => name.slice(0, -11))).toEqual([
      ...[`moody__${LONG}`.slice(0, 53), `moody__${LONG}`.slice(0, 53), 'moody__dotted_name'],
    ]);
    const called = [...fitted, 'moody__dotted_name'];
    const caller = await system.create([{ calls: called.map((name) => ({ name })) }, { text: 'done' }], {
      tools: ['*'],
      mcpServers: { moody: moody() },
    });
    const raw = (await resultsOf(caller)).map((result) => saidBy(result).name);
    expect(raw.slice(0, 2).sort()).toEqual([LONG, `${LONG}x`]);
    expect(raw.slice(2)).toEqual(['dotted.name', 'dotted_name']);
  });

  it("T6 a server's tool that would have the name of one of the runner's own is left out, and the list says so", async () => {
    const session = await agent('says', { moody: moody(), taken: moody({ WHICH: 'taken' }) });
    await resultsOf(session);
    const { tools = [], unavailable } = (await listed(session)) ?? {};
    expect(tools.filter(({ name }) => name === 'taken__say')).toMatchObject([{ readonly: true }]);
    expect(unavailable).toEqual([{ name: 'taken__say', reason: expect.stringMatching(/of its own/) }]);
  });

  it('T6 killed between calls: the next call starts it anew', async () => {
    const servers = { moody: moody({ WHICH: 'between' }) };
    const session = await agent('says', servers);
    const before = saidBy((await resultsOf(session))[0]);
    process.kill(before.pid, 'SIGKILL');
    await untilGone(before.pid);
    const after = saidBy((await resultsOf(session))[1]);
    expect(after.pid).not.toBe(before.pid);
  });

  it('T6 killed between calls over HTTP, and there again at the same port: the next call reaches it', async () => {
    const env = (MOODY_PORT: string) => ({ MOODY_PORT });
    const { child, port } = await serve(moodyFile, [], env, 'listening');
    const session = await agent('says', { moody: { url: `http://127.0.0.1:${port}/` } });
    const before = saidBy((await resultsOf(session))[0]);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    const { child: anew } = await serve(moodyFile, [], env, 'listening', port);
    const after = saidBy((await resultsOf(session))[1]);
    expect([before.pid, after.pid]).toEqual([child.pid, anew.pid]);
  });

  it('T6 killed between calls over HTTP, one that keeps sessions: the next call begins a new one', async () => {
    const env = (PORT: string) => ({ PORT });
    const begin = (at?: string) => serve(programOf('everything'), ['streamableHttp'], env, 'listening on port', at);
    const { child, port } = await begin();
    const session = await agent('everything', { everything: { url: `http://127.0.0.1:${port}/mcp` } });
    const before = await resultsOf(session);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    await begin(port);
    const after = (await resultsOf(session)).slice(before.length);
    expect(after.map(({ isError, error }) => ({ isError, error }))).toEqual(
      before.map(({ isError, error }) => ({ isError, error })),
    );
  });

  it('T6 killed in a call over stdio: outcome_unknown within 5 s, and the call is not made again', async () => {
    const deaths = join(system.workspace, 'deaths-stdio');
    const session = await agent('dies', { moody: moody({ MOODY_DEATHS: deaths }) });
    const results = await resultsOf(session);
    expect(results).toMatchObject([{ isError: true, error: { code: 'outcome_unknown' } }]);
    expect(results[0]?.durationMs).toBeLessThan(5_000);
    expect(await readFile(deaths, 'utf8')).toBe('died\n');
    expect(await resultsOf(await agent('says', { moody: moody() }))).toMatchObject([{ isError: false }]);
  });

  it('T6 killed in a call over HTTP: outcome_unknown within 5 s, and the call was made once', async () => {
    const deaths = join(system.workspace, 'deaths-http');
    const env = (MOODY_PORT: string) => ({ MOODY_PORT, MOODY_DEATHS: deaths });
    const { port } = await serve(moodyFile, [], env, 'listening');
    const [result] = await resultsOf(await agent('dies', { moody: { url: `http://127.0.0.1:${port}/` } }));
    expect(result).toMatchObject({ isError: true, error: { code: 'outcome_unknown' } });
    expect(result?.durationMs).toBeLessThan(5_000);
    expect(await readFile(deaths, 'utf8')).toBe('died\n');
  });

  it('T4 a long answer of a server: head and tail for the model, no character cut, the whole in the blob store', async () => {
    const session = await agent('much', { moody: moody() });
    const [result] = await resultsOf(session);
    const whole = Buffer.from('🙂'.repeat(250_001));
    expect(result).toMatchObject({ isError: false, output: { truncated: true, totalBytes: whole.length } });
    expectCut(textOf(result?.content ?? []), whole);
    const { whole: digest } = result?.output as { whole: string };
    const kept = Buffer.from(await new BlobStore(system.bus).get(system.tenant, session.id, digest));
    expect(kept.equals(whole)).toBe(true);
  });

  it('T4 an answer that is larger than a message may be: unknown what came of it, and the next call starts the server anew', async () => {
    const servers = { moody: moody({ WHICH: 'too-much' }) };
    const [result] = await resultsOf(await agent('too-much', servers));
    expect(result).toMatchObject({ isError: true, error: { code: 'outcome_unknown' } });
    expect(textOf(result?.content ?? [])).toMatch(/sent more in one message than is taken/);
    expect(await resultsOf(await agent('says', servers))).toMatchObject([{ isError: false }]);
  });

  it('T6 lines that are no messages, and an answer that comes twice, are passed over', async () => {
    const session = await agent('says', { moody: moody({ MOODY_CHATTER: 'true' }) });
    const [first] = await resultsOf(session);
    const [, second] = await resultsOf(session);
    expect(saidBy(second).pid).toBe(saidBy(first).pid);
  });

  it('T6 a server that starts anew for a call, slowly: a cancel ends the turn, and the call is never made', async () => {
    const [deaths, pids] = [join(system.workspace, 'deaths-slow'), join(system.workspace, 'pids-slow')];
    const servers = { moody: moody({ MOODY_START_MS: '3000', MOODY_DEATHS: deaths, MOODY_PIDS: pids }) };
    const killed = Promise.withResolvers<undefined>();
    const session = await system.create([{ after: killed.promise, calls: [{ name: 'moody__die' }] }], {
      ...{ tools: ['*'], mcpServers: servers },
    });
    const end = await session.begin('go');
    await session.until('tools.listed');
    const [pid = 0] = (await readFile(pids, 'utf8')).split('\n').map(Number);
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
    killed.resolve(undefined);
    await session.until('tool.call');
    // Each start writes two lines.
    while ((await readFile(pids, 'utf8')).trim().split('\n').length < 4) await sleep(10);
    await system.client.cancel(session.id);
    expect(await end()).toMatchObject({ kind: 'aborted' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: true }]);
    // By the time that it answers another session, it would have had the call.
    expect(await resultsOf(await agent('says', servers))).toMatchObject([{ isError: false }]);
    await expect(readFile(deaths, 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('T6 a slow start is waited for; a server that cannot list, or is not there, takes only its own tools away', async () => {
    const slow = await agent('says', { moody: moody({ MOODY_START_MS: '2000' }) });
    expect(await resultsOf(slow)).toMatchObject([{ isError: false }]);
    const partly = await agent('says', {
      moody: moody(),
      silent: moody({ MOODY_LIST: 'fails' }),
      absent: { command: 'no-such-program-here' },
      gone: moody({ MOODY_EXIT: 'no licence found' }),
      unarmed: moody({ MOODY_SECRET: 'env:JETLOOP_NO_SUCH_SECRET' }),
    });
    expect(await resultsOf(partly)).toMatchObject([{ isError: false }]);
    const { unavailable } = (await listed(partly)) ?? {};
    expect(unavailable?.map(({ name }) => name).sort()).toEqual(['absent', 'gone', 'silent', 'unarmed']);
    expect(JSON.stringify(unavailable)).toContain('no licence found');
    expect(JSON.stringify(unavailable)).toContain('not in the mood');
    expect(JSON.stringify(unavailable)).toContain('JETLOOP_NO_SUCH_SECRET');
  });

  it('T6 a tool that comes later is listed in the next turn', async () => {
    const session = await agent('grows', { moody: moody({ WHICH: 'grows' }) });
    await resultsOf(session);
    await resultsOf(session);
    expect((await listed(session))?.tools.map(({ name }) => name)).toContain('moody__grown');
  });

  it('a server whose URL leads to a private, local or metadata address is refused, by a redirect too, unless it is listed', async () => {
    const redirecting = createHttpServer((_request, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
    }).listen(0, '127.0.0.1');
    await once(redirecting, 'listening');
    const { port } = redirecting.address() as AddressInfo;
    const hosts = ['127.0.0.2', '[::1]', '169.254.169.254', '10.0.0.1', '172.16.0.1', '192.168.1.1', '0.0.0.0'];
    const urls = [...hosts, '[::ffff:10.0.0.1]', '[fe80::1]', '[fd00::1]', '168.63.129.16'].map(
      (host) => `http://${host}:${port}/`,
    );
    const refused = Object.fromEntries(urls.map((url, n) => [`no${n}`, { url }]));
    const session = await agent('says', { ...refused, away: { url: `http://127.0.0.1:${port}/` }, moody: moody() });
    expect(await resultsOf(session)).toMatchObject([{ isError: false }]);
    const { unavailable = [] } = (await listed(session)) ?? {};
    redirecting.close();
    expect(unavailable.map(({ name }) => name).sort()).toEqual([...Object.keys(refused), 'away'].sort());
    for (const { name, reason } of unavailable)
      expect({ name, reason }).toEqual({
        name,
        reason: expect.stringMatching(
          name === 'away' ? /redirect/ : /private, local or metadata address.*JETLOOP_MCP_ADDRESSES/,
        ),
      });
  });

  it('T6 sessions of a tenant share a server, unless it is kept for each session', async () => {
    const pids = async (server: AgentSpecInput['mcpServers']) => {
      const both = [await agent('says', server), await agent('says', server)];
      const results = await Promise.all(both.map(resultsOf));
      return new Set(results.map(([result]) => saidBy(result).pid)).size;
    };
    expect(await pids({ moody: moody({ WHICH: 'shared' }) })).toBe(1);
    expect(await pids({ moody: moody({ WHICH: 'own' }, { perSession: true }) })).toBe(2);
  });

  it('T6 T10 only what the operator calls readonly is readonly, and a readonly session has nothing else', async () => {
    const deaths = join(system.workspace, 'readonly deaths');
    const servers = { moody: moody({ MOODY_DEATHS: deaths }, { readonlyTools: ['say'] }) };
    const session = await agent('says', servers, { readonly: true });
    expect(await resultsOf(session)).toMatchObject([{ isError: false }]);
    const names = (await listed(session))?.tools.map(({ name }) => name).filter((name) => name.startsWith('moody'));
    expect(names).toEqual(['moody__say']);
    // Its server calls `die` readonly, the operator does not.
    const [refused] = await resultsOf(await agent('dies', servers, { readonly: true }));
    expect(refused).toMatchObject({ isError: true, error: { code: 'readonly' } });
    await expect(readFile(deaths)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

/** Resolves when a child of this process is gone, and this process knows. */
async function untilGone(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0);
      await sleep(5);
    }
  } catch {
    // ESRCH: it is gone.
    await sleep(5);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
