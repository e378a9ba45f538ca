import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './program.js';
import { inputOf, recordingIo } from './testing/io.js';

const MODELS = 'targets: { default: { provider: p, dialect: scripted, model: m, script: [] } }';
const POLICIES = 'name: p\npolicies: [{ name: x, seam: pre-tool, when: { tool: bash }, decide: { denie: no } }]';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jetloop-cli-'));
  await writeFile(join(folder, 'models.yaml'), MODELS);
  await writeFile(join(folder, 'bad.yaml'), 'name: [\n');
  await writeFile(join(folder, 'policies.yaml'), POLICIES);
  await writeFile(join(folder, 'chain.yaml'), 'name: a\nmodel: { chain: [other] }');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function jetloop(args: string[], options: Parameters<typeof recordingIo>[0] = {}) {
  const { io, out, err } = recordingIo({ folder, ...options });
  const exitCode = await runProgram(
    args.map((arg) => arg.replace('@', `${folder}/`)),
    io,
  );
  return { exitCode, out: out(), err: err() };
}

describe('nonsense is refused before anything starts, saying what to do', () => {
  const run = (...args: string[]) => ['run', 'Hello', '--models', '@models.yaml', ...args];
  it.each([
    [['run', '', '--models', '@models.yaml'], 'The prompt is empty'],
    [['run', ' \n'], 'The prompt is empty'],
    [['run', '-'], 'The prompt is empty'],
    [['run', 'a'.repeat(800_000)], 'expected at most 768 KiB'],
    [['run', 'Hello'], 'Either set OPENAI_API_KEY'],
    [run('--session', 'a.b'), '--session "a.b" is not valid'],
    [run('--tenant', '*'), '--tenant "*" is not valid'],
    [run('--agent', '@bad.yaml'), 'bad.yaml:2:1: '],
    [run('--agent', '@nowhere.yaml'), 'does not exist'],
    [run('--agent', '@chain.yaml'), 'model.chain: other) is known: expected one of default'],
    [run('--agent', 'a b'), '--agent "a b" is not valid'],
    [run('--policies', '@policies.yaml'), 'policies.yaml:2: '],
    [run('--workspace', '/etc'), 'lies outside the current folder'],
    [run('--workspace', 'nowhere'), 'does not exist'],
    [run('--nats', 'nats://127.0.0.1:4222'), '--models cannot be used with --nats'],
    [['run', 'Hello', '--nats', ':::'], 'expected nats://'],
    [['run', 'Hello', '--models', '@bad.yaml'], 'bad.yaml'],
    [['show', 'a.b'], 'session "a.b" is not valid'],
    [['show', '*'], 'session "*" is not valid'],
    [['show', 's1'], 'Nothing has run in'],
    [['sql', ''], 'The query is empty'],
    [['sql', 'select 1'], 'Nothing has run in'],
    [['sql', 'select 1', '--max-rows', '0'], 'expected a whole number of at least 1'],
    [['send', 'a.b', 'Hello'], 'session "a.b" is not valid'],
    [['send', 's1', ' '], 'The prompt is empty'],
    [['send', 's1', 'Hello', '--steer', '--inject'], 'exclude each other'],
    [['send', 's1', 'Hello', '--steer', '--when-busy', 'queue'], '--when-busy is for prompts'],
    [['send', 's1', 'Hello', '--agent', 'coder'], 'give --create too'],
    [['send', 's1', 'Hello', '--when-busy', 'never'], 'Allowed choices are queue, reject, interrupt'],
    [['tail', '*'], 'session "*" is not valid'],
    [['tail', 's1', '--from', '-1'], 'expected a whole number of at least 0'],
    [['sessions', '--tenant', '*'], '--tenant "*" is not valid'],
    [['cancel', 's1', '--nats', ':::'], 'expected nats://'],
    [['close'], "missing required argument 'session'"],
    [['approvals', 'approve', 's1'], "missing required argument 'approval'"],
    [['agents', 'put', '@bad.yaml'], 'bad.yaml:2:1: '],
    [['topology', 'apply', '--replicas', '0'], 'expected a whole number of at least 1'],
    [['migrate'], 'DATABASE_URL is not set'],
    [['up'], 'Either set OPENAI_API_KEY'],
    [['up', '--models', '@bad.yaml'], 'bad.yaml'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['run'], "missing required argument 'prompt'"],
  ])('%j', async (args, message) => {
    const before = await readdir(folder);
    const { exitCode, err, out } = await jetloop(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(message);
    expect(await readdir(folder)).toEqual(before);
  });

  it('reads no more of standard input than it takes to refuse it', async () => {
    let chunks = 0;
    const input = async function* () {
      for (; chunks < 100; chunks++) yield await Promise.resolve(Buffer.alloc(64 * 1024, 'a'));
    };
    const { exitCode, err } = await jetloop(['run', '-'], { input: input() });
    expect(exitCode).toBe(2);
    expect(err).toContain('longer than 768 KiB');
    expect(chunks).toBeLessThan(14);
  });
});

it('says a server that is not there with exit code 3', async () => {
  for (const args of [
    ['run', 'Hello'],
    ['show', 's1'],
  ]) {
    const { exitCode, err } = await jetloop([...args, '--nats', 'nats://127.0.0.1:1']);
    expect(exitCode).toBe(3);
    expect(err).toContain('NATS at nats://127.0.0.1:1 cannot be reached');
  }
});

it.each([[['send', 's1', 'Hello']], [['tail', 's1']], [['sessions']], [['cancel', 's1']], [['topology', 'apply']]])(
  'says how to get services where none run: %j',
  async (args) => {
    const { exitCode, err } = await jetloop(args);
    expect(exitCode).toBe(3);
    expect(err).toContain('Start them with `jetloop up` in another terminal');
  },
);

it('says that a database cannot be migrated, without its password', async () => {
  const env = { DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/x' };
  const { exitCode, err } = await jetloop(['migrate'], { env });
  expect(exitCode).toBe(3);
  expect(err).toMatch(/127\.0\.0\.1:1\/x cannot be migrated: .*ECONNREFUSED/);
  expect(err).not.toContain('secret');
});

it('says an error as JSON with --json', async () => {
  const { exitCode, out, err } = await jetloop(['run', '-', '--json'], { input: inputOf(' ') });
  expect({ exitCode, err }).toEqual({ exitCode: 2, err: '' });
  expect(JSON.parse(out)).toMatchObject({ error: { exitCode: 2, code: 'invalid' } });
});

it('answers --help and --version', async () => {
  expect(await jetloop(['--version'])).toEqual({ exitCode: 0, out: '0.1.0\n', err: '' });
  const { exitCode, out } = await jetloop(['run', '--help']);
  expect(exitCode).toBe(0);
  expect(out).toContain('--workspace <folder>');
});

it('doctor names what is there, and never the key', async () => {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], OPENAI_API_KEY: 'sk-secret' };
  const { out } = await jetloop(['doctor', '--json'], { env });
  expect(out).not.toContain('sk-secret');
  const { findings } = JSON.parse(out) as { findings: { name: string; state: string }[] };
  expect(findings.map(({ name }) => name)).toEqual([
    ...['Node', 'nats-server', 'PostgreSQL', 'data folder', 'model', 'bash', 'git', 'rg'],
  ]);
  expect(findings.find(({ name }) => name === 'model')?.state).toBe('ok');
});

it('doctor fails when a server that was given does not answer, and says what to do', async () => {
  const { exitCode, out } = await jetloop(['doctor'], { env: { NATS_URL: 'nats://user:secret@127.0.0.1:1' } });
  expect(exitCode).toBe(3);
  expect(out).toContain('correct NATS_URL');
  expect(out).not.toContain('secret');
});
