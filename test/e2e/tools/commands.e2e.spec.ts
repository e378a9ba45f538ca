import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AgentSpecInput } from '@jetloop/contracts';
import { BlobStore } from '@jetloop/messaging';
import { isGroupAlive } from '@jetloop/platform';
import { canSandbox } from '@jetloop/testing';
import { isRunning } from '../support/acp/is-running.js';
import { expectCut } from '../support/expect-cut.js';
import { bash, calls, resultsOf, textIn } from '../support/scripted-calls.js';
import type { TestSession } from '../support/test-session.js';
import { TestSystem } from '../support/test-system.js';

jest.setTimeout(90_000);

const targets = {
  outputs: calls(
    bash("head -c 52428800 /dev/zero | tr '\\0' 'x'"),
    bash('seq 1000000'),
    // Wherever the cuts fall, one of these has a character there.
    ...['', 'x', 'xx', 'xxx'].map((before) => bash(`printf '%s' '${before}'; yes '🙂' | head -n 50000 | tr -d '\\n'`)),
  ),
  binary: calls(bash('head -c 2000 /dev/urandom'), bash('head -c 300000 /dev/urandom | tee random')),
  endless: calls(bash('yes')),
  files: calls(
    ['read_file', { path: 'lines', limit: 10_000 }],
    ['read_file', { path: 'one-line' }],
    ['read_file', { path: 'random-file' }],
    ['grep', { pattern: '.', path: 'matches', limit: 2_000 }],
  ),
  tree: calls(
    bash(
      'echo $$ > pids; sleep 300 & echo $! >> pids; ' +
        '(trap "touch asked" TERM; echo $BASHPID >> pids; while :; do sleep 1; done) & wait',
    ),
  ),
  fetches: calls(['http_fetch', { url: 'http://127.0.0.1/' }]),
  greedy: calls(
    bash(`${process.execPath} -e 'for (const kept = []; kept.length < 64;) kept.push(Buffer.allocUnsafe(2 ** 30))'`),
    bash('kill -9 $$'),
    bash('echo still here'),
  ),
};

/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 3_000;
const TICK_MS = 50;
const proof = (await canSandbox()) ? it : it.skip;

describe('commands', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ targets });
  });
  afterAll(() => system.stop());

  const agent = (target: string, more: Partial<AgentSpecInput> = {}) =>
    system.create(target, { tools: ['*'], ...more });

  /** What the blob store has of an output. */
  async function wholeOf(session: TestSession, output: unknown): Promise<Buffer> {
    const { whole } = output as { whole: string };
    return Buffer.from(await new BlobStore(system.bus).get(system.tenant, session.id, whole));
  }

  it('T4 50 MB, a million lines, an emoji at the cut: head and tail for the model, the whole in the blob store', async () => {
    const session = await agent('outputs');
    const results = await resultsOf(system, session);
    const emoji = '🙂'.repeat(50_000);
    const wholes = [
      Buffer.alloc(50 * 1024 * 1024, 'x'),
      Buffer.from(Array.from({ length: 1_000_000 }, (_, n) => `${n + 1}\n`).join('')),
      ...['', 'x', 'xx', 'xxx'].map((before) => Buffer.from(before + emoji)),
    ];
    expect(results).toHaveLength(wholes.length);
    for (const [n, whole] of wholes.entries()) {
      const { isError, output } = results[n]!;
      expect({ n, isError, output }).toMatchObject({ n, isError: false, output: { totalBytes: whole.length } });
      expectCut(textIn(results[n]), whole, whole.at(-1) === 10 ? 'exit code 0' : '\nexit code 0');
      expect({ n, isWhole: (await wholeOf(session, output)).equals(whole) }).toEqual({ n, isWhole: true });
    }
  });

  it('T4 binary output is described, not dumped, and kept where it is long', async () => {
    const session = await agent('binary');
    const [short, long] = await resultsOf(system, session);
    expect(textIn(short)).toBe('[binary data, unknown type, 2000 bytes, not shown]\nexit code 0');
    expect(textIn(long)).toBe('[binary data, unknown type, 300000 bytes, not shown]\nexit code 0');
    const random = await readFile(join(system.workspace, 'random'));
    expect((await wholeOf(session, long?.output)).equals(random)).toBe(true);
  });

  it('T4 output that never ends is ended at 64 MiB, all of which are kept', async () => {
    const session = await agent('endless');
    const [result] = await resultsOf(system, session);
    const whole = Buffer.alloc(64 * 1024 * 1024, 'y\n');
    expect(result).toMatchObject({ isError: true, error: { code: 'output_limit' } });
    expect(result?.output).toMatchObject({ totalBytes: whole.length, truncated: true });
    expectCut(textIn(result), whole, 'ended because it wrote too much output');
    expect((await wholeOf(session, result?.output)).equals(whole)).toBe(true);
  });

  it('T4 files: a page of a million lines, a line of 4 MB, binary data, and more matches than the model gets', async () => {
    const lines = Array.from({ length: 1_000_000 }, (_, n) => `${n + 1}\n`);
    const matches = Array.from({ length: 2_000 }, (_, n) => `${n} ${'é'.repeat(100)}`);
    const files = {
      ...{ lines: lines.join(''), 'one-line': '🙂'.repeat(1_000_000), matches: `${matches.join('\n')}\n` },
      'random-file': randomBytes(5_000),
    };
    await Promise.all(Object.entries(files).map(([name, data]) => writeFile(join(system.workspace, name), data)));
    const session = await agent('files');
    const [page, line, random, found] = await resultsOf(system, session);
    const [text, note] = page?.content.map((block) => (block.type === 'text' ? block.text : '')) ?? [];
    expect(text).toBe(lines.slice(0, 10_000).join(''));
    expect(note).toBe('[lines 1 to 10000 of 1000000; go on with offset 10001]');
    expect(textIn(line)).toMatch(/^(🙂)+\[\.\.\. line of 4000000 bytes cut \.\.\.\]\n/u);
    expect(textIn(random)).toBe('[binary data, unknown type, 5000 bytes, not shown]');
    const whole = Buffer.from(matches.map((match, n) => `matches:${n + 1}:${match}`).join('\n'));
    expectCut(textIn(found), whole);
    expect((await wholeOf(session, found?.output)).equals(whole)).toBe(true);
  });

  it('T9 a cancel ends the process group, children that ignore SIGTERM too, within 1 s after the grace', async () => {
    const session = await agent('tree');
    const { messageId, sequence } = await system.client.prompt(session.id, 'go');
    await session.until('tool.call');
    const pids = await eventually(async () => {
      const found = (await readFile(join(system.workspace, 'pids'), 'utf8')).trim().split('\n').map(Number);
      return found.length === 3 ? found : undefined;
    });
    const [leader = 0] = pids;
    expect(await isGroupAlive(leader)).toBe(true);
    const before = Date.now();
    await system.client.cancel(session.id);
    // From here on the group knows that it has to end.
    await eventually(() => readFile(join(system.workspace, 'asked'), 'utf8'));
    // The runner's timers share this process: a tick that comes late on a busy machine makes them late as well.
    let ticks = 0;
    const isAnyone = async () =>
      (await isGroupAlive(leader)) || (await Promise.all(pids.map(isRunning))).includes(true);
    for (; await isAnyone(); ticks++) {
      expect(ticks).toBeLessThan((GRACE_MS + 1_000) / TICK_MS);
      await sleep(TICK_MS);
    }
    expect(Date.now() - before).toBeGreaterThanOrEqual(GRACE_MS);
    expect(await session.endOf(messageId, sequence)).toMatchObject({ kind: 'aborted' });
  });

  it('T1 http_fetch is off unless it is allowed: it is not listed, and a call of it is refused', async () => {
    const session = await agent('fetches');
    const [result] = await resultsOf(system, session);
    expect(result).toMatchObject({ isError: true, error: { code: 'unknown_tool' } });
    const names = (await session.data('tools.listed'))[0]?.tools.map(({ name }) => name);
    expect(names).toContain('bash');
    expect(names).not.toContain('http_fetch');
  });

  it('T12 a command that exhausts memory, or is killed, takes only itself down', async () => {
    const [memory, killed, fine] = await resultsOf(system, await agent('greedy'));
    expect(memory).toMatchObject({ isError: true });
    expect(textIn(memory)).toMatch(/allocation failed|memory/i);
    expect(killed?.isError).toBe(true);
    expect(textIn(fine)).toContain('still here');
  });

  proof('a sandboxed command writes to the workspace alone, has no network and sees no other process', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outside = `/var/tmp/jetloop-${process.pid}`;
    const commands = [
      'touch inside.txt && echo written',
      `touch ${outside}`,
      'ls ..',
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) && echo connected`,
      'ls -d /proc/[0-9]* | wc -l',
    ];
    const within = async (sandbox: 'none' | 'bubblewrap') => {
      const made = commands.map((command) => ({ name: 'bash', arguments: { command } }));
      return resultsOf(system, await system.create([{ calls: made }, { text: 'done' }], { tools: ['*'], sandbox }));
    };
    const [inside, written, above, network, processes] = await within('bubblewrap');
    expect(textIn(inside)).toContain('written');
    expect(await readFile(join(system.workspace, 'inside.txt'), 'utf8')).toBe('');
    expect(textIn(written)).toMatch(/read-only/i);
    await expect(readFile(outside)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(textIn(above)).toBe(`${basename(system.workspace)}\nexit code 0`);
    expect(network?.isError).toBe(true);
    expect(textIn(network)).not.toContain('connected');
    expect(Number(textIn(processes).split('\n')[0])).toBeLessThan(10);
    // Without the walls, the same commands do reach what lies outside.
    const free = await within('none');
    await rm(outside);
    server.close();
    expect(textIn(free[3])).toContain('connected');
    expect(textIn(free[2]).split('\n').length).toBeGreaterThan(2);
  });
});

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await sleep(25);
  }
  throw new Error('it did not happen');
}
