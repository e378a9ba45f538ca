import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../bin/jetloop.js');
const MODELS = `
targets:
  default:
    provider: scripted
    dialect: scripted
    model: script
    prices: { input: 1000, output: 2000 }
    script:
      - match: { hasToolResult: true }
        reply: { text: 'The file says hello.' }
        usage: { input: 20, output: 5 }
      - match: { contains: fail }
        error: { code: auth, message: no such key }
      - reply:
          text: I read it.
          toolCalls:
            - { name: read_file, arguments: { path: greeting.txt } }
            - { name: bash, arguments: { command: rm greeting.txt } }
        usage: { input: 10, output: 7 }
`;
const POLICIES = `
name: guard
policies:
  - name: no-rm
    seam: pre-tool
    when: { tool: bash, command: { runs: [rm] } }
    decide: { deny: Nothing is deleted here. }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jetloop-run-'));
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'greeting.txt'), 'hello\n');
  await writeFile(join(folder, 'models.yaml'), MODELS);
  await writeFile(join(folder, 'policies.yaml'), POLICIES);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The built command, as a process of its own, on the embedded servers of the folder. */
function jetloop(...args: string[]): Promise<{ exitCode: unknown; out: string; err: string }> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], LANG: 'C.UTF-8' };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { cwd: folder, env }, (error, out, err) => {
      resolve({ exitCode: error?.code ?? 0, out, err });
    });
  });
}
const run = (prompt: string, ...args: string[]) =>
  jetloop('run', prompt, '--models', 'models.yaml', '--policies', 'policies.yaml', ...args);

describe('jetloop on embedded servers', () => {
  it('runs a turn, shows tool calls and the denied one, and tells the rest afterwards', async () => {
    const { exitCode, out, err } = await run('Read it', '--session', 's1');
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    const lines = out.split('\n');
    expect(lines.slice(0, 3)).toEqual(['session s1', '', 'I read it.']);
    expect(out).toMatch(/\n {2}✓ read_file {2}greeting\.txt +\d+ ms\n.*hello\n/);
    expect(out).toMatch(/\n {2}⊘ bash {2}rm greeting\.txt +denied\n {4}policy guard\/no-rm: Nothing is deleted here\./);
    expect(out).toContain('\nThe file says hello.\n\n✓ completed\n');
    expect(out).toMatch(/2 steps · 2 tool calls \(1 denied\) · 30 tokens in, 12 out · \$0\.0540 · \d+/);

    const shown = await jetloop('show', 's1', '--json');
    const types = shown.out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(expect.arrayContaining(['session.created', 'tool.call', 'policy.decided', 'turn.end']));

    const audited = await jetloop('sql', 'select name, decision from tool_calls order by seq', '--json');
    expect(JSON.parse(audited.out)).toMatchObject({
      rows: [
        ['read_file', 'allow'],
        ['bash', 'deny'],
      ],
    });
  });

  it('goes on with a session, as JSON lines that end with the outcome', async () => {
    const { exitCode, out } = await run('Read it again', '--session', 's1', '--json');
    expect(exitCode).toBe(0);
    const objects = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(objects[0]).toMatchObject({ type: 'message.queued' });
    expect(objects.at(-1)).toMatchObject({
      outcome: { session: 's1', tenant: 'local', turn: 2, reason: { kind: 'completed' }, toolCalls: 2, exitCode: 0 },
    });
  });

  it('ends with exit code 1 when the turn does not complete', async () => {
    const { exitCode, out } = await run('Please fail');
    expect(exitCode).toBe(1);
    expect(out).toContain('✗ error (auth)');
  });
});
