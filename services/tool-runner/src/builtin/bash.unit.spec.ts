import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryWorkspace, textOf, type TestWorkspace } from '../tool/context.fixture.spec.js';
import { OUTPUT_LIMIT } from '../tool/cut-output.js';
import { WHOLE_LIMIT } from '../tool/output-collector.js';
import { bashTool } from './bash.tool.js';
import { isGroupAlive } from '@jetloop/platform';
import { canSandbox } from '@jetloop/testing';

const sandboxes = (await canSandbox()) ? (['none', 'bubblewrap'] as const) : (['none'] as const);

let box: TestWorkspace;
beforeAll(async () => {
  box = await temporaryWorkspace();
  await mkdir(join(box.root, 'sub'));
});
afterAll(() => box.remove());

const bash = (command: string, more: Parameters<TestWorkspace['run']>[2] & { args?: object } = {}) =>
  box.run(bashTool, { command, ...more.args }, more);

/** Starts a grandchild behind a child, all deaf to SIGTERM, and notes their group and processes. */
const STUBBORN = `trap '' TERM; echo $$ > group
bash -c 'trap "" TERM; (trap "" TERM; echo $BASHPID >> pids; while :; do sleep 0.2; done) & echo $$ >> pids; while :; do sleep 0.2; done' &
echo started; while :; do sleep 0.2; done`;

async function groupIn(file: string): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await readFile(join(box.root, file), 'utf8').catch(() => '');
    if (found.endsWith('\n')) return Number(found);
    await sleep(50);
  }
  throw new Error('the command did not start');
}

const living = (pids: string[]) =>
  pids.filter((pid) => {
    try {
      return !execFileSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).startsWith('Z');
    } catch {
      // ps fails for a process that is gone.
      return false;
    }
  });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still in use: what was only not collected yet, on a busy machine, is no leak. */
function liveMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('bash', () => {
  it('gives output and exit code', async () => {
    expect(await bash('echo hello')).toMatchObject({
      content: [{ type: 'text', text: 'hello\nexit code 0' }],
      output: { exitCode: 0, signal: null, truncated: false },
      isError: false,
    });
    expect(textOf(await bash('printf x'))).toBe('x\nexit code 0');
    expect(textOf(await bash('true'))).toBe('exit code 0');
  });

  it('makes a command that fails an error, with its output', async () => {
    const failed = await bash('echo oops >&2; exit 3');
    expect(failed).toMatchObject({ isError: true, error: { code: 'exit_code' }, output: { exitCode: 3 } });
    expect(textOf(failed)).toBe('oops\nexit code 3');
    expect(await bash('if then')).toMatchObject({ isError: true, output: { exitCode: 2 } });
    expect(textOf(await bash('kill -9 $$'))).toBe('ended by SIGKILL');
  });

  it.each(sandboxes)('gives the last words of a command that ends at once (sandbox: %s)', async (sandbox) => {
    const ended = await Promise.all(Array.from({ length: 20 }, () => bash('seq 3000', { sandbox })));
    for (const said of ended.map(textOf)) expect(said).toMatch(/\n3000\nexit code 0$/);
  });

  it('keeps the order of both streams, and lets them be opened by name', async () => {
    const each = Array.from({ length: 50 }, (_, i) => i);
    const command = 'for i in $(seq 0 49); do if (( i % 2 )); then echo $i; else echo $i >&2; fi; done';
    expect(textOf(await bash(command))).toBe(`${each.join('\n')}\nexit code 0`);
    expect(textOf(await bash('echo a > /dev/stderr; echo b | tee /dev/stderr'))).toMatch(/^a\nb\nb\nexit code 0$/);
  });

  it('runs in the workspace, or in a folder of it', async () => {
    expect(textOf(await bash('pwd'))).toBe(`${box.root}\nexit code 0`);
    expect(textOf(await bash('pwd', { args: { workdir: 'sub' } }))).toBe(`${box.root}/sub\nexit code 0`);
    expect((await bash('pwd', { args: { workdir: 'none' } })).error?.code).toBe('not_found');
  });

  it('closes standard input and hides the environment but for a few names', async () => {
    process.env.JETLOOP_TEST_SECRET = 'secret';
    process.env.LC_TIME = 'C';
    try {
      expect(textOf(await bash('cat; echo end'))).toBe('end\nexit code 0');
      const names = textOf(await bash('env')).split('\n').map((line) => line.split('=')[0]!); // prettier-ignore
      expect(names).toContain('PATH');
      expect(names).toContain('LC_TIME');
      const allowed = /^(PATH|HOME|LANG|LC_\w+|TERM|TMPDIR|PWD|OLDPWD|SHLVL|_|exit code 0)$/;
      expect(names.filter((name) => !allowed.test(name))).toEqual([]);
    } finally {
      delete process.env.JETLOOP_TEST_SECRET;
      delete process.env.LC_TIME;
    }
  });

  it('shows output while it runs', async () => {
    const seen: string[] = [];
    await bash('echo first; sleep 0.6; echo second', { progress: (text) => void seen.push(text) });
    expect(seen).toEqual(['first\n', 'second\n']);
  });

  it('takes 50 MB of output in flat memory, with head and tail for the model and the whole for the sink', async () => {
    const before = liveMemory();
    let sunk = 0;
    let most = 0;
    let looks = 0;
    const sink = {
      // A look is a whole collection, which takes its time where a heap is large: five of them, however slow the machine is.
      write: (chunk: Uint8Array) => {
        sunk += chunk.length;
        if (sunk >= (looks + 1) * 10_000_000) {
          looks += 1;
          most = Math.max(most, liveMemory() - before);
        }
        return Promise.resolve();
      },
      end: () => Promise.resolve('b1'),
    };
    const result = await bash('echo begin; head -c 52428800 /dev/zero | tr "\\0" x; echo; echo end', {
      openSink: () => sink,
    });
    expect(looks).toBe(5);
    expect(most).toBeLessThan(20 * 1024 * 1024);
    expect(result).toMatchObject({
      isError: false,
      output: { exitCode: 0, truncated: true, totalBytes: 52428811, whole: 'b1' },
    });
    expect(sunk).toBe(52428811);
    expect(textOf(result)).toMatch(
      /^begin\nx+\n\[\.\.\. \d+ of 52428811 bytes cut here, after line 1\. .*\]\nx+\nend\nexit code 0$/,
    );
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(OUTPUT_LIMIT);
  });

  it('ends a command whose output never ends', async () => {
    const result = await bash('echo $$ > endless; yes');
    expect(result).toMatchObject({
      isError: true,
      error: { code: 'output_limit' },
      output: { totalBytes: WHOLE_LIMIT },
    });
    expect(await isGroupAlive(await groupIn('endless'))).toBe(false);
  });

  it('describes binary output', async () => {
    expect(textOf(await bash('head -c 5000 /dev/zero'))).toBe(
      '[binary data, unknown type, 5000 bytes, not shown]\nexit code 0',
    );
  });

  it('ends a command at its limit, with what it wrote so far and its last words', async () => {
    const result = await bash('trap "echo last words; exit" TERM; echo begun; while :; do sleep 0.1; done', {
      args: { timeoutMs: 1_500 },
    });
    expect(result).toMatchObject({ isError: true, error: { code: 'timeout' } });
    expect(textOf(result)).toMatch(/^begun\n(Terminated\n)?last words\nended after its limit of 1500 ms\n?$/);
    expect(result.durationMs).toBeLessThan(4_400);
  });

  it.each(['timeout', 'cancel'])(
    'leaves no process of the group after a %s, though all ignore SIGTERM',
    async (how) => {
      await bash('rm -f group pids');
      const cancel = new AbortController();
      const running = bash(STUBBORN, { signal: cancel.signal, args: how === 'timeout' ? { timeoutMs: 1000 } : {} });
      const group = await groupIn('group');
      await sleep(700);
      expect(await isGroupAlive(group)).toBe(true);
      const stopped = performance.now();
      if (how === 'cancel') cancel.abort();
      const result = await running;
      // The grace is 3 s, and 1 s after it the group is gone.
      expect(performance.now() - stopped).toBeLessThan(4500);
      expect(result).toMatchObject({ isError: true, error: { code: how === 'timeout' ? 'timeout' : 'aborted' } });
      expect(await isGroupAlive(group)).toBe(false);
      const pids = (await readFile(join(box.root, 'pids'), 'utf8')).trim().split('\n');
      expect(pids).toHaveLength(2);
      expect(living(pids)).toEqual([]);
    },
  );

  it('ends what a command left in the background, and does not wait for it', async () => {
    const result = await bash('echo $$ > left; sleep 300 & echo done');
    expect(textOf(result)).toBe('done\nexit code 0');
    expect(result.durationMs).toBeLessThan(3000);
    expect(await isGroupAlive(await groupIn('left'))).toBe(false);
  });

  it('refuses an empty command and a limit out of range', async () => {
    expect((await bash('')).error?.code).toBe('invalid_arguments');
    expect((await bash('true', { args: { timeoutMs: 10_000_000 } })).error?.code).toBe('invalid_arguments');
    expect((await bash('echo a\0b')).isError).toBe(true);
  });
});
