import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runProgram } from './program.js';
import { recordingIo } from './testing/io.js';

const moody = join(import.meta.dirname, '../../../test/fixtures/mcp/moody.mjs');
const WEATHER = `
export default {
  name: 'weather',
  description: 'The weather of a town.',
  inputSchema: { type: 'object' },
  readonly: true,
  idempotent: true,
  fit: (args) => ({ ok: true, value: args }),
  run: ({ town }, { progress }) => {
    progress('asking');
    if (town === undefined) throw new Error('which town?');
    return 'Rain in ' + town + '.';
  },
};
`;

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-tools-')));
  await writeFile(join(folder, 'weather.mjs'), WEATHER);
  await writeFile(join(folder, 'note.txt'), 'A note.\n');
  const servers = `moody: { command: ${process.execPath}, args: [${moody}] }, near: { url: 'http://127.0.0.1:4321/' }`;
  await writeFile(
    join(folder, 'agent.yaml'),
    `name: a\nmodel: { chain: [x] }\ntools: ['*']\nmcpServers: { ${servers} }\n`,
  );
  await writeFile(
    join(folder, 'readonly.yaml'),
    'name: a\nmodel: { chain: [x] }\ntools: [bash, list_dir]\nreadonly: true\n',
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function jetloop(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { io, out, err } = recordingIo({ folder, env });
  const exitCode = await runProgram(['tools', ...args.map((arg) => arg.replace('@', `${folder}/`))], io);
  return { exitCode, out: out(), err: err() };
}
const namesIn = (out: string) => (JSON.parse(out) as { tools: { name: string }[] }).tools.map(({ name }) => name);

describe('jetloop tools list', () => {
  it('shows the built-in tools, and which of them are readonly', async () => {
    const { exitCode, out, err } = await jetloop(['list']);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toMatch(/\nbash +\S/);
    expect(out).toMatch(/\nread_file +readonly +\S/);
    expect(out).not.toContain('http_fetch');
  });

  it('shows modules and what the variables of a runner add', async () => {
    expect(namesIn((await jetloop(['list', '--module', './weather.mjs', '--json'])).out)).toContain('weather');
    const env = { JETLOOP_TOOL_MODULES: './weather.mjs', JETLOOP_HTTP_FETCH: 'true' };
    expect(namesIn((await jetloop(['list', '--json'], env)).out)).toEqual(
      expect.arrayContaining(['http_fetch', 'weather']),
    );
  });

  it('shows the tools of an agent, those of its MCP servers, and why a server cannot be had', async () => {
    const { exitCode, out, err } = await jetloop(['list', '--agent', '@agent.yaml']);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/\nmoody__say\s/);
    expect(err).toMatch(/^near: .*JETLOOP_MCP_ADDRESSES/);
    const listed = await jetloop(['list', '--agent', '@agent.yaml'], { JETLOOP_MCP_ADDRESSES: '127.0.0.1' });
    expect(listed.err).toMatch(/^near: (?!.*JETLOOP_MCP_ADDRESSES)/);
    expect(namesIn((await jetloop(['list', '--agent', '@readonly.yaml', '--json'])).out)).toEqual(['list_dir']);
  });
});

describe('jetloop tools call', () => {
  it('makes one call in the current folder, and shows what came of it', async () => {
    const read = await jetloop(['call', 'read_file', '{"path":"note.txt"}']);
    expect(read).toEqual({ exitCode: 0, out: expect.stringContaining('A note.'), err: '' });
    const weather = await jetloop(['call', 'weather', '{"town":"Ulm"}', '--module', './weather.mjs']);
    expect(weather).toEqual({ exitCode: 0, out: 'Rain in Ulm.\n', err: 'asking\n' });
  });

  it('gives the result as JSON, and exit code 1 for one that is an error', async () => {
    const failed = await jetloop(['call', 'weather', '--module', './weather.mjs', '--json']);
    expect({ exitCode: failed.exitCode, err: failed.err }).toEqual({ exitCode: 1, err: '' });
    expect(JSON.parse(failed.out)).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('which town?') }],
    });
    expect((await jetloop(['call', 'bash', '{"command":"exit 3"}'])).out).toContain('exit code 3');
  });

  it('calls a tool of an MCP server, and ends what it started', async () => {
    const { exitCode, out } = await jetloop(['call', 'moody__say', '{"word":"yes"}', '--agent', '@agent.yaml']);
    expect(exitCode).toBe(0);
    const { args, pid } = JSON.parse(out) as { args: unknown; pid: number };
    expect(args).toEqual({ word: 'yes' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it.each([
    [['call', 'nothing'], 'There is no tool named nothing'],
    [['call', 'bash', '{"command":"ls"}', '--agent', '@readonly.yaml'], 'There is no tool named bash'],
    [['call', 'bash', '["ls"]'], 'expected the arguments as a JSON object'],
    [['call', 'bash', 'ls'], 'expected the arguments as a JSON object'],
    [['list', '--module', './nowhere.mjs'], 'the tool module ./nowhere.mjs cannot be loaded'],
    [['list', '--module', './note.txt'], 'the tool module ./note.txt'],
    [['list', '--agent', '@nowhere.yaml'], 'does not exist'],
  ])('%j is refused, saying why', async (args, message) => {
    const { exitCode, out, err } = await jetloop(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(message);
  });

  it('names a variable that is not right', async () => {
    const { exitCode, err } = await jetloop(['list'], { JETLOOP_MCP_ADDRESSES: 'here' });
    expect(exitCode).toBe(2);
    expect(err).toContain('JETLOOP_MCP_ADDRESSES: "here": expected an address or a range');
  });
});
