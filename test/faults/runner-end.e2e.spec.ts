import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { textOf } from '@jetloop/contracts';
import { isRunning } from '../e2e/support/acp/is-running.js';
import { ProcessSystem } from './support/process-system.js';
import { begunIn, callsTool, counterModule, effectsOf, runsOf, startToolTurn } from './support/tool-turns.js';

jest.setTimeout(120_000);

const moodyFile = join(import.meta.dirname, '../fixtures/mcp/moody.mjs');
const env = { JETLOOP_TOOL_MODULES: counterModule };

let system: ProcessSystem;
beforeAll(async () => {
  system = await ProcessSystem.start({
    models: {
      says: callsTool('moody__say'),
      exits: callsTool('exit_process'),
      exhausts: callsTool('exhaust_memory'),
      fills: callsTool('exhaust_buffers'),
      greedy: callsTool('bash', { command: 'head -c 1000000000 /dev/zero | LC_ALL=C tail' }),
      touches: callsTool('bash', { command: 'touch touched' }),
      'count-until': callsTool('count', { until: 'go' }),
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
  expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  expect(await runner.stop(30_000)).toBe(0);
  expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
});

it.each([
  ['exits the process', 'exits', /exit code 1/],
  ['exhausts the memory of its heap', 'exhausts', /exhausted the memory of its thread \(96 MiB\)/],
  ['exhausts the memory beside its heap', 'fills', /exhausted the memory of its thread \(96 MiB beside its heap\)/],
])(
  'T12 a tool that %s takes only itself down: a call beside it ends well, on the same runner',
  async (_how, target, words) => {
    const runner = await system.spawn('tool-runner', { ...env, JETLOOP_TOOL_HEAP_MB: '96' });
    const begun = begunIn(system, `beside-${target}`);
    const beside = await startToolTurn(system, `beside-${target}`, 'count-until');
    await begun;
    const own = await startToolTurn(system, target, target);
    const { reason, results, problems } = await own.ended;
    expect({ reason, problems }).toEqual({ reason: { kind: 'completed' }, problems: [] });
    expect(results).toMatchObject([{ isError: true, error: { code: 'outcome_unknown' } }]);
    expect(textOf(results[0]?.content ?? [])).toMatch(words);
    expect(await effectsOf(beside, 'count')).toEqual([]);
    await writeFile(join(beside.workspace, 'go'), '');
    expect(await beside.ended).toMatchObject({
      ...{ reason: { kind: 'completed' }, problems: [] },
      results: [{ isError: false, content: [{ type: 'text', text: 'counted' }] }],
    });
    expect((await runsOf(beside, 'count')).map(({ pid }) => pid)).toEqual([runner.pid]);
    expect(await effectsOf(beside, 'count')).toHaveLength(1);
    expect(await runner.stop()).toBe(0);
  },
);

it('T12 a command that exhausts memory takes only itself down: calls beside it end well, on the same runner', async () => {
  const runner = await system.spawn('tool-runner', { ...env, JETLOOP_TOOL_MEMORY_MB: '64' });
  const begun = begunIn(system, 'beside-command');
  const beside = await startToolTurn(system, 'beside-command', 'count-until');
  await begun;
  const { ended } = await startToolTurn(system, 'greedy', 'greedy');
  const { reason, results } = await ended;
  expect(reason).toEqual({ kind: 'completed' });
  expect(results).toMatchObject([{ isError: true, error: { code: 'exit_code' } }]);
  expect(textOf(results[0]?.content ?? [])).toMatch(/memory exhausted/);
  await writeFile(join(beside.workspace, 'go'), '');
  expect(await beside.ended).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
  expect((await runsOf(beside, 'count')).map(({ pid }) => pid)).toEqual([runner.pid]);
  expect(await runner.stop()).toBe(0);
});

it.each([
  ['is not installed', undefined, /bubblewrap \(bwrap\) is not installed/],
  [
    'may make no namespaces',
    'No permissions to create new namespace',
    /does not work on this machine \(.*No permissions/,
  ],
])(
  'a command whose sandbox cannot be had, as bubblewrap %s, is refused and not run',
  async (_why, complaint, words) => {
    const bin = await mkdtemp(join(system.folder, 'bin-'));
    for (const name of ['bash', 'cat', 'touch']) await symlink(`/bin/${name}`, join(bin, name));
    if (complaint !== undefined)
      await writeFile(join(bin, 'bwrap'), `#!/bin/bash\necho 'bwrap: ${complaint}' >&2\nexit 1\n`, { mode: 0o755 });
    const runner = await system.spawn('tool-runner', { ...env, PATH: bin });
    const turn = await startToolTurn(system, `${basename(bin)}-boxed`, 'touches', { sandbox: 'bubblewrap' });
    const { results } = await turn.ended;
    expect(results).toMatchObject([{ isError: true, error: { code: 'sandbox_unavailable' } }]);
    expect(textOf(results[0]?.content ?? [])).toMatch(words);
    const free = await startToolTurn(system, `${basename(bin)}-free`, 'touches');
    expect(await free.ended).toMatchObject({ results: [{ isError: false }] });
    expect([await readdir(turn.workspace), await readdir(free.workspace)]).toEqual([[], ['touched']]);
    expect(await runner.stop()).toBe(0);
  },
);

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
