import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JETLOOP } from '../e2e/support/acp-editor.js';
import { AcpSystem, calls, scripted } from '../e2e/support/acp-system.js';
import type { TestSession } from '../e2e/support/test-session.js';
import { peerProgram } from './support/peer-program.js';

// Programs of other people, which take their time to start.
jest.setTimeout(120_000);

const targets = {
  looks: scripted(
    { match: { contains: 'slowly' }, reply: { text: 'one two three four five six' }, pieceDelayMs: 2_000 },
    { match: { hasToolResult: true }, reply: { text: 'I have looked.' } },
    calls({ name: 'list_dir', arguments: { path: '.' } }),
  ),
};

let acp: AcpSystem;
let home: string;
let program: string;
beforeAll(async () => {
  acp = await AcpSystem.start({ targets, agents: { looks: { model: { chain: ['looks'] }, tools: ['list_dir'] } } });
  home = await mkdtemp(join(tmpdir(), 'jetloop-acpx-'));
  program = await peerProgram('acpx', 'acpx');
});
afterAll(async () => {
  await acp.stop();
  await rm(home, { recursive: true, force: true });
});

/** Runs acpx on `jetloop acp` in the workspace, to its end. */
async function acpx(...words: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const { natsUrl, tenant } = acp.system;
  const agent = [process.execPath, JETLOOP, 'acp', '--agent', 'looks', '--tenant', tenant, '--nats', natsUrl].join(' ');
  const args = [program, '--agent', agent, '--cwd', acp.workspace, '--ttl', '1', ...words];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (piece: Buffer) => (said.out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (said.err += piece.toString()));
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, ...said };
}

/** The session that was created last. */
async function latest(): Promise<TestSession> {
  const { sessions } = await acp.system.client.sessionPage({ workspace: acp.workspace });
  return acp.session(sessions[0]?.session ?? '');
}

describe('acpx as the client of jetloop acp', () => {
  it('runs a prompt to end_turn, with its tool call and its text', async () => {
    const { code, out, err } = await acpx('exec', 'look around');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toContain('list_dir');
    expect(out).toContain('I have looked.');
    expect(out).toContain('end_turn');
    const session = await latest();
    expect(await session.data('turn.end')).toMatchObject([{ reason: { kind: 'completed' } }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: false }]);
  });

  it('cancels a prompt of a session that it keeps, and goes on in it', async () => {
    expect(await acpx('sessions', 'new', '--name', 'kept')).toMatchObject({ code: 0 });
    const prompt = acpx('prompt', '-s', 'kept', 'slowly');
    const session = await latest();
    await session.until('step.start');
    expect(await acpx('cancel', '-s', 'kept')).toMatchObject({ code: 0 });
    expect((await prompt).out).toContain('cancelled');
    expect(await session.data('turn.end')).toMatchObject([{ reason: { kind: 'aborted' } }]);
    // The process of acpx that keeps the session may be on its way out: then nothing was sent.
    let again = await acpx('prompt', '-s', 'kept', 'look again');
    for (let tries = 1; tries < 20 && again.out.includes('Queue owner is shutting down'); tries++)
      again = await acpx('prompt', '-s', 'kept', 'look again');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('end_turn') });
    const where = `tenant = '${acp.system.tenant}' and session_id = '${session.id}'`;
    expect(await acp.system.sql(`select end_reason from turns where ${where} order by turn`)).toEqual([
      ['aborted'],
      ['completed'],
    ]);
    expect(await acpx('sessions', 'close', 'kept')).toMatchObject({ code: 0 });
  });
});
