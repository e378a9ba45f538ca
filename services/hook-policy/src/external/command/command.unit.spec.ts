import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandTransport } from './command-transport.js';
import { scrubbedEnv } from './scrubbed-env.js';

let folder = '';
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-hook-')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = async (
  line: string,
  extra: { env?: NodeJS.ProcessEnv; added?: Record<string, string>; signal?: AbortSignal } = {},
) => {
  const { env = { PATH: process.env['PATH'] }, added = {}, signal = AbortSignal.timeout(30_000) } = extra;
  const open = { stderr: '' };
  const output = await commandTransport({ run: line, env: added }, env)(
    Buffer.from('{"prompt":"hello"}'),
    { signal, workspace: folder },
    open,
  );
  return {
    output,
    text: output.kind === 'answer' ? Buffer.from(output.bytes).toString('utf8') : output.reason,
    stderr: open.stderr,
  };
};
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // ESRCH
  }
};
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('a command hook', () => {
  it('gets the event on standard input, in the workspace', async () => {
    expect((await run('pwd; cat')).text).toBe(`${folder}\n{"prompt":"hello"}`);
  });

  it('need not read its input', async () => {
    expect((await run('exec <&-; echo done')).text).toBe('done\n');
  });

  it('says why on standard error, with exit code 2', async () => {
    expect((await run('echo not here >&2; exit 2')).output).toEqual({ kind: 'refusal', reason: 'not here' });
  });

  it('does not see secrets of the service, by name or in an address', async () => {
    const env = {
      PATH: process.env['PATH'],
      HOME: '/srv/home',
      OPENAI_API_KEY: 'k',
      my_secret_thing: 's',
      GITHUB_TOKEN: 't',
      PgPassword: 'p',
      NATS_URL: 'nats://user:pass@127.0.0.1',
      PLAIN_URL: 'nats://127.0.0.1',
    };
    expect(Object.keys(scrubbedEnv(env)).sort()).toEqual(['HOME', 'PATH', 'PLAIN_URL']);
    const { text } = await run('env', { env });
    expect(text).not.toMatch(/API_KEY|secret|TOKEN|Password|NATS_URL/);
    expect(text).toContain('HOME=/srv/home');
  });

  it('gets what the set names, and what is secret of it is hidden in what it writes', async () => {
    const env = { PATH: process.env['PATH'], HOOK_TOKEN: 'tok-12345' };
    const added = { TOKEN: 'env:HOOK_TOKEN', COLOR: 'blue' };
    const { text, stderr } = await run('echo "$TOKEN $COLOR"; echo "using $TOKEN" >&2', { env, added });
    expect(text).toBe('tok-12345 blue\n');
    expect(stderr).toBe('using [redacted]\n');
    expect((await run('echo "$TOKEN" >&2; exit 2', { env, added })).text).toBe('[redacted]');
  });

  it('is killed with its whole process group at the limit', async () => {
    const limit = new AbortController();
    const file = join(folder, 'pids');
    const running = run(`sleep 300 & echo $! > ${file}; (trap '' TERM; sleep 300) & echo $! >> ${file}; wait`, {
      signal: limit.signal,
    });
    running.catch(() => undefined); // its end is asked for below
    const pids = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    await until(async () => (await pids()).length === 2);
    limit.abort();
    await until(async () => !(await pids()).some(isAlive));
    await expect(running).rejects.toThrow('SIGKILL');
  });

  it('leaves nobody behind when it ends by itself', async () => {
    const { text } = await run('sleep 300 & echo $!');
    await until(() => !isAlive(Number(text)));
  });

  it('may be a program of the workspace', async () => {
    await writeFile(join(folder, 'hook.sh'), 'echo "{\\"continue\\": true}"', { mode: 0o755 });
    expect((await run('sh ./hook.sh')).text).toBe('{"continue": true}\n');
  });
});
