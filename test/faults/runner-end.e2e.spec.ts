import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ProcessSystem } from './support/process-system.js';
import { callsOnce, counterModule, startToolTurn } from './support/tool-turns.js';

jest.setTimeout(120_000);

const moodyFile = join(import.meta.dirname, '../fixtures/mcp/moody.mjs');
const env = { JETLOOP_TOOL_MODULES: counterModule };

let system: ProcessSystem;
beforeAll(async () => {
  system = await ProcessSystem.start({
    targets: { says: callsOnce('moody__say'), exits: callsOnce('exit_process'), counts: callsOnce('count_again') },
  });
  await Promise.all([system.spawn('llm-router'), system.spawn('loop-orchestrator')]);
});
afterAll(() => system.stop());

it('T6 nothing of an MCP server is left after the runner has stopped, what it started included', async () => {
  const runner = await system.spawn('tool-runner', env);
  const pidsFile = join(system.folder, 'pids');
  const moody = { command: process.execPath, args: [moodyFile], env: { MOODY_PIDS: pidsFile } };
  const { ended } = await startToolTurn(system, 'served', 'says', { mcpServers: { moody } });
  expect(await ended).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
  const pids = (await readFile(pidsFile, 'utf8')).trim().split('\n').map(Number);
  expect(await Promise.all(pids.map(isAlive))).toEqual([true, true]);
  expect(await runner.stop(30_000)).toBe(0);
  expect(await Promise.all(pids.map(isAlive))).toEqual([false, false]);
});

it('T12 a tool that ends its process takes only its own call down: unknown, and the others run', async () => {
  const doomed = await system.spawn('tool-runner', env);
  const { ended } = await startToolTurn(system, 'exits', 'exits');
  expect(await doomed.exited).toBe(1);
  await system.spawn('tool-runner', env);
  const other = await startToolTurn(system, 'counts', 'counts');
  expect(await other.ended).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
  expect(await ended).toMatchObject({
    reason: { kind: 'completed' },
    results: [{ isError: true, error: { code: 'outcome_unknown' } }],
  });
});

/** A zombie is dead: it only waits for somebody to notice. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
}
