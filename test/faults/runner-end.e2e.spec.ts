import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ProcessSystem } from './support/process-system.js';
import { begunIn, callsTool, counterModule, effectsOf, startToolTurn } from './support/tool-turns.js';

jest.setTimeout(120_000);

const moodyFile = join(import.meta.dirname, '../fixtures/mcp/moody.mjs');
const env = { JETLOOP_TOOL_MODULES: counterModule };

let system: ProcessSystem;
beforeAll(async () => {
  system = await ProcessSystem.start({
    models: {
      says: callsTool('moody__say'),
      exits: callsTool('exit_process'),
      counts: callsTool('count_again'),
      'count-slowly': callsTool('count', { before: 1_000 }),
      'count-long': callsTool('count', { before: 10_000 }),
      'count-again-long': callsTool('count_again', { before: 3_000 }),
    },
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

/** A runner that is stopped while it runs a call, and the turn as it ends with the next one. */
async function stopIn(target: string, graceMs: number) {
  const stopped = await system.spawn('tool-runner', { ...env, JETLOOP_GRACE_MS: String(graceMs) });
  const begun = begunIn(system, target);
  const turn = await startToolTurn(system, target, target);
  await begun;
  expect(await stopped.stop(20_000)).toBe(0);
  const next = await system.spawn('tool-runner', env);
  const end = await turn.ended;
  expect(await next.stop()).toBe(0);
  expect(end).toMatchObject({ reason: { kind: 'completed' }, problems: [] });
  return { turn, results: end.results };
}

it('SIGTERM in a call with an effect that ends within the grace: its result, and one effect', async () => {
  const { turn, results } = await stopIn('count-slowly', 20_000);
  expect(results).toMatchObject([{ isError: false }]);
  expect(await effectsOf(turn, 'count')).toHaveLength(1);
});

it('SIGTERM in a call with an effect that does not: unknown, and no other runner makes it happen', async () => {
  const { turn, results } = await stopIn('count-long', 300);
  expect(results).toMatchObject([{ isError: true, error: { code: 'outcome_unknown' } }]);
  expect(await effectsOf(turn, 'count')).toEqual([]);
});

it('SIGTERM in an idempotent call: the next runner makes it again, under the same id', async () => {
  const { turn, results } = await stopIn('count-again-long', 300);
  expect(results).toMatchObject([{ isError: false }]);
  expect(new Set(await effectsOf(turn, 'count_again'))).toEqual(new Set([`${system.tenant}.${turn.session}.1.1.0`]));
});

/** A zombie is dead: it only waits for somebody to notice. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
}
