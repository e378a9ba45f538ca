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
  const next = await system.spawn('tool-runner', env);
  const other = await startToolTurn(system, 'counts', 'counts');
  expect(await other.ended).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
  expect(await ended).toMatchObject({
    reason: { kind: 'completed' },
    results: [{ isError: true, error: { code: 'outcome_unknown' } }],
  });
  expect(await next.stop()).toBe(0);
});

/** A runner that is stopped while it runs calls, and their turns as they end with the next one. */
async function stopIn(targets: readonly string[], graceMs: number) {
  const stopped = await system.spawn('tool-runner', { ...env, JETLOOP_GRACE_MS: String(graceMs) });
  const begun = targets.map((target) => begunIn(system, target));
  const turns = await Promise.all(targets.map((target) => startToolTurn(system, target, target)));
  await Promise.all(begun);
  expect(await stopped.stop(20_000)).toBe(0);
  const next = await system.spawn('tool-runner', env);
  const ends = await Promise.all(turns.map(({ ended }) => ended));
  expect(await next.stop()).toBe(0);
  for (const end of ends) expect(end).toMatchObject({ reason: { kind: 'completed' }, problems: [] });
  return { turns, results: ends.map(({ results }) => results) };
}

it('SIGTERM in a call with an effect that ends within the grace: its result, and one effect', async () => {
  const { turns, results } = await stopIn(['count-slowly'], 20_000);
  expect(results).toMatchObject([[{ isError: false }]]);
  expect(await effectsOf(turns[0]!, 'count')).toHaveLength(1);
});

it('SIGTERM in calls that do not: one with an effect is unknown and not made again, an idempotent one is', async () => {
  const { turns, results } = await stopIn(['count-long', 'count-again-long'], 300);
  expect(results).toMatchObject([[{ isError: true, error: { code: 'outcome_unknown' } }], [{ isError: false }]]);
  expect(await effectsOf(turns[0]!, 'count')).toEqual([]);
  const again = await effectsOf(turns[1]!, 'count_again');
  expect(new Set(again)).toEqual(new Set([`${system.tenant}.count-again-long.1.1.0`]));
});

/** A zombie is dead: it only waits for somebody to notice. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
}
