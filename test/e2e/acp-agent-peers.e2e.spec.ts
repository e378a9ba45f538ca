import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ProcessSystem } from '../faults/support/process-system.js';
import { AcpEditor, JETLOOP, textIn } from './support/acp-editor.js';
import { AcpSystem, calls, scripted } from './support/acp-system.js';

const EXAMPLE_CLIENT = join(dirname(fileURLToPath(import.meta.resolve('acp-sdk-examples'))), 'examples/client.js');

const targets = {
  looks: scripted(
    { match: { hasToolResult: true }, reply: { text: 'I have looked.' } },
    calls({ name: 'list_dir', arguments: { path: '.' } }),
  ),
};
const modes = [
  { id: 'code', name: 'Code' },
  { id: 'plan', name: 'Plan', description: 'Thinks before it acts.' },
];
const agents = { looks: { model: { chain: ['looks'] }, tools: ['list_dir'], modes } };

// The first test of an editor waits for its process to start.
jest.setTimeout(180_000);

let acp: AcpSystem;
beforeAll(async () => {
  acp = await AcpSystem.start({ targets, agents });
});
afterEach(() => {
  acp.killEditors();
});
afterAll(() => acp.stop());

/** The command line of `jetloop acp` for these services. */
const commandLine = () => {
  const { natsUrl, tenant } = acp.system;
  return [JETLOOP, 'acp', '--agent', 'looks', '--tenant', tenant, '--nats', natsUrl];
};

describe('A40 the example client of the SDK', () => {
  it('A40 starts us, has a session, sees what its prompt comes to, and ends with end_turn', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'jetloop-shim-'));
    try {
      // It starts `npx tsx agent.ts`: the shim starts us instead.
      const words = [process.execPath, ...commandLine()].map((word) => `'${word}'`).join(' ');
      await writeFile(join(folder, 'npx'), `#!/bin/sh\nexec ${words}\n`);
      await chmod(join(folder, 'npx'), 0o755);
      const out = await new Promise<string>((resolve, reject) => {
        const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
        const options = { cwd: acp.workspace, env, timeout: 150_000 };
        execFile(process.execPath, [EXAMPLE_CLIENT], options, (error, stdout, stderr) => {
          if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
          else resolve(stdout);
        });
      });
      expect(out).toContain('Connected to agent (protocol v1)');
      expect(out).toContain('list_dir . (pending)');
      expect(out).toContain('`1.1.0` updated: completed');
      expect(out).toContain('I have looked.');
      expect(out).toContain('Agent completed with: end_turn');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('A41 modes and MCP servers', () => {
  it('A41 gives the modes of the agent, sets one, tells it before the answer, and remembers it', async () => {
    const editor = await acp.shared();
    const cwd = acp.workspace;
    const created = await editor.call<{ sessionId: string }>('session/new', { cwd, mcpServers: [] });
    expect(created).toMatchObject({ modes: { currentModeId: 'code', availableModes: modes } });
    const { sessionId } = created;
    const answer = await editor.ask('session/set_mode', { sessionId, modeId: 'plan' });
    expect(answer).toMatchObject({ result: {} });
    expect(editor.updates(sessionId, 0, editor.indexOf(answer))).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
    ]);
    expect(await acp.session(sessionId).data('session.mode')).toMatchObject([{ mode: 'plan' }]);
    expect(await editor.ask('session/set_mode', { sessionId, modeId: 'plan' })).toMatchObject({ result: {} });
    expect(await editor.ask('session/set_mode', { sessionId, modeId: 'wild' })).toMatchObject({
      error: { code: -32602 },
    });
    const from = editor.frames.length;
    const loaded = await editor.call('session/load', { sessionId, cwd, mcpServers: [] });
    expect(loaded).toMatchObject({ modes: { currentModeId: 'plan' } });
    expect(editor.updates(sessionId, from)).toMatchObject([{ currentModeId: 'plan' }]);
  });

  it("A41 adds an editor's MCP servers to the agent of a new session, where inline specs are allowed", async () => {
    const editor = await acp.shared();
    const mcpServers = [{ name: 'files', command: 'nowhere', args: ['-x'], env: [{ name: 'A', value: 'b' }] }];
    const { sessionId } = await editor.call<{ sessionId: string }>('session/new', { cwd: acp.workspace, mcpServers });
    expect(await acp.session(sessionId).data('session.created')).toMatchObject([
      { agent: { name: 'looks', mcpServers: { files: { command: 'nowhere', args: ['-x'], env: { A: 'b' } } } } },
    ]);
    for (const server of [
      { ...mcpServers[0], name: 'a b' },
      { type: 'sse', name: 's', url: 'http://127.0.0.1', headers: [] },
    ])
      expect(await editor.ask('session/new', { cwd: acp.workspace, mcpServers: [server] })).toMatchObject({
        error: { code: -32602 },
      });
  });

  it('A41 refuses them with -32602 where inline specs are not allowed', async () => {
    const system = await ProcessSystem.start({ targets });
    try {
      await system.spawn('loop-orchestrator', { JETLOOP_ALLOW_INLINE_AGENTS: 'false' });
      await AcpSystem.put(system.bus, system.tenant, agents);
      const editor = AcpEditor.start({ natsUrl: system.natsUrl, tenant: system.tenant, agent: 'looks' });
      try {
        await editor.call('initialize', { protocolVersion: 1 });
        const mcpServers = [{ name: 'files', command: 'nowhere', args: [], env: [] }];
        expect(await editor.ask('session/new', { cwd: system.folder, mcpServers })).toMatchObject({
          error: { code: -32602, data: { code: 'invalid' } },
        });
        expect(await editor.newSession(system.folder)).toMatch(/^[\w-]+$/);
      } finally {
        editor.kill();
      }
    } finally {
      await system.stop();
    }
  });
});

describe('A50 jetloop acp as the harness of a session', () => {
  it('A50 a turn of one session is a turn of another, tools and text included, and the next turn goes on in it', async () => {
    const cwd = join(acp.workspace, 'nested');
    await mkdir(cwd, { recursive: true });
    const harness = {
      ...{ kind: 'acp' as const, command: process.execPath, args: commandLine(), cwd },
      permissionPolicy: 'allow_once' as const,
    };
    const { session: id } = await acp.system.client.create({
      agent: { spec: { name: 'outer', harness } },
      workspace: cwd,
    });
    const outer = acp.session(id);
    for (const text of ['look', 'look again']) expect(await outer.prompt(text)).toEqual({ kind: 'completed' });
    const { sessions } = await acp.system.client.sessionPage({ workspace: cwd });
    const [inner, ...others] = sessions.filter(({ agent }) => agent === 'looks');
    expect(others).toEqual([]);
    expect(await acp.session(inner?.session ?? '').data('turn.end')).toMatchObject([
      { turn: 1, reason: { kind: 'completed' } },
      { turn: 2, reason: { kind: 'completed' } },
    ]);
    const said = (await outer.data('assistant.message')).flatMap(({ content }) => content);
    expect(said).toEqual([
      { type: 'text', text: 'I have looked.' },
      { type: 'text', text: 'I have looked.' },
    ]);
    expect(await outer.data('tool.call')).toMatchObject([
      { turn: 1, callId: '1.1.0', name: 'list_dir .', effective: { path: '.' } },
      { turn: 2, callId: '2.1.0' },
    ]);
    expect(await outer.data('tool.result')).toMatchObject([{ isError: false }, { isError: false }]);
    // And an editor sees the outer one as any session.
    const editor = await acp.shared();
    await editor.call('session/load', { sessionId: id, cwd, mcpServers: [] });
    expect(textIn(editor.updates(id))).toBe('I have looked.I have looked.');
  });
});
