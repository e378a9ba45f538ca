import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { JetloopProcess } from './testing/jetloop-process.js';

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
const FILES = { 'greeting.txt': 'hello\n', 'models.yaml': MODELS, 'policies.yaml': POLICIES };

let jetloop: JetloopProcess;
beforeAll(async () => {
  jetloop = await JetloopProcess.create(FILES);
});
afterAll(() => jetloop.remove());

// Each command starts the servers of the folder's data anew: what needs only running ones is tested with `up`.
describe('jetloop on embedded servers', () => {
  it('runs a turn, and shows tool calls and the denied one', async () => {
    const args = ['--session', 's1', '--models', 'models.yaml', '--policies', 'policies.yaml'];
    const { exitCode, out, err } = await jetloop.run('run', 'Read it', ...args);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    const lines = out.split('\n');
    expect(lines.slice(0, 3)).toEqual(['session s1', '', 'I read it.']);
    expect(out).toMatch(/\n {2}✓ read_file {2}greeting\.txt +\d+ ms\n.*hello\n/);
    expect(out).toMatch(/\n {2}⊘ bash {2}rm greeting\.txt +denied\n {4}policy guard\/no-rm: Nothing is deleted here\./);
    expect(out).toContain('\nThe file says hello.\n\n✓ completed\n');
    expect(out).toMatch(/2 steps · 2 tool calls \(1 denied\) · 30 tokens in, 12 out · \$0\.0540 · \d+/);
    // The data lies outside the folder that the agent works in.
    expect((await readdir(jetloop.folder)).sort()).toEqual(Object.keys(FILES).sort());
    expect((await readdir(`${jetloop.dataHome}/jetloop`)).join()).toMatch(/^work-[0-9a-f]{12}$/);
  });

  it('tells by SQL what an earlier process did', async () => {
    const audited = await jetloop.run('sql', 'select name, decision from tool_calls order by seq', '--json');
    expect(JSON.parse(audited.out)).toMatchObject({
      rows: [
        ['read_file', 'allow'],
        ['bash', 'deny'],
      ],
    });
  });
});
