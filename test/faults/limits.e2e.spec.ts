import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JetloopClient } from '@jetloop/client';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './support/process-system.js';
import { logOf } from './support/session-log.js';
import { callsTool, startToolTurn, type ToolTurn } from './support/tool-turns.js';

jest.setTimeout(120_000);

/** A command that shows that it runs, and goes on when there is a file named `open`. */
const HOLDS = 'touch begun; while [ ! -e open ]; do sleep 0.05; done; echo held';
const models = ['shared', 'narrow', 'other', 'third'];
const ENDED_WELL = { reason: { kind: 'completed' }, problems: [] };

let system: ProcessSystem;
let neighbour: JetloopClient;
beforeAll(async () => {
  system = await ProcessSystem.start({
    models: {
      holds: callsTool('bash', { command: HOLDS }),
      looks: callsTool('list_dir', { path: '.' }),
      ...Object.fromEntries(models.map((name): [string, ModelScript] => [name, []])),
    },
    settings: { narrow: { maxConcurrent: 1 } },
  });
  neighbour = await JetloopClient.connect({
    natsUrl: system.natsUrl,
    tenant: `${system.tenant}-neighbour`,
    actor: 'test',
  });
  await system.spawn('loop-orchestrator');
});
afterAll(async () => {
  await neighbour.close();
  await system.stop();
});

const reasonsIn = async (session: string, client = system.client) =>
  (await logOf(client, session)).flatMap((event) => (event.type === 'work.deferred' ? [event.data.reason] : []));
const deferred = async (turns: readonly ToolTurn[]) =>
  (await Promise.all(turns.map(({ session }) => reasonsIn(session)))).filter((reasons) => reasons.length > 0);

describe('limits of the tool-runner', () => {
  let router: ServiceProcess;
  beforeAll(async () => {
    router = await system.spawn('llm-router');
  });
  afterAll(() => router.stop());

  const begun = async (turns: readonly ToolTurn[]) =>
    (await Promise.all(turns.map(({ workspace }) => exists(join(workspace, 'begun'))))).filter(Boolean).length;
  const open = (turns: readonly ToolTurn[]) =>
    Promise.all(turns.map(({ workspace }) => writeFile(join(workspace, 'open'), '')));
  /** Three turns of which so many hold, while the others were put off for this reason. */
  async function hold(name: string, most: number, reason: string): Promise<ToolTurn[]> {
    const turns = await Promise.all([1, 2, 3].map((n) => startToolTurn(system, `${name}-${n}`, 'holds')));
    await until(async () => (await begun(turns)) >= most && (await deferred(turns)).length >= 3 - most);
    expect(await begun(turns)).toBe(most);
    expect(new Set((await deferred(turns)).flat())).toEqual(new Set([reason]));
    return turns;
  }
  async function expectHeld(turns: readonly ToolTurn[]): Promise<void> {
    await open(turns);
    for (const turn of turns) expect(await turn.ended).toMatchObject({ ...ENDED_WELL, results: [{ isError: false }] });
  }

  it('of a tool: what is over it comes back later and ends well, and the other tools go on', async () => {
    const runner = await system.spawn('tool-runner', { JETLOOP_TOOL_LIMITS: 'bash=1' });
    const turns = await hold('tool-limit', 1, 'the tenant has 1 calls of bash running');
    const other = await startToolTurn(system, 'tool-limit-other', 'looks');
    expect(await other.ended).toMatchObject({ ...ENDED_WELL, results: [{ isError: false }] });
    expect(await reasonsIn(other.session)).toEqual([]);
    expect(await begun(turns)).toBe(1);
    await expectHeld(turns);
    expect(await runner.stop()).toBe(0);
  });

  it('of a tenant: what is over it comes back later and ends well, and other tenants go on', async () => {
    const runner = await system.spawn('tool-runner', { JETLOOP_TENANT_LIMIT: '2' });
    const turns = await hold('tenant-limit', 2, 'the tenant has 2 calls running');
    const other = await startToolTurn(system, 'tenant-limit-other', 'looks', {}, neighbour);
    expect(await other.ended).toMatchObject({ ...ENDED_WELL, results: [{ isError: false }] });
    expect(await reasonsIn(other.session, neighbour)).toEqual([]);
    expect(await begun(turns)).toBe(2);
    await expectHeld(turns);
    expect(await runner.stop()).toBe(0);
  });
});

describe('limits of the llm-router', () => {
  beforeAll(async () => {
    await system.spawn('llm-router', { JETLOOP_TENANT_LIMIT: '2', JETLOOP_MAX_STREAMS: '3' });
    await system.spawn('tool-runner');
  });

  /** Lets a model answer once `open` is called. */
  function gate(...names: string[]): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    for (const name of names) system.provider.script(name, () => ({ after: promise, text: 'An answer.' }));
    return () => {
      resolve(undefined);
    };
  }
  const asked = (model: string) => system.provider.requests(model).length;
  const answers = async ({ session }: ToolTurn) =>
    (await logOf(system.client, session)).filter(({ type }) => type === 'assistant.message').length;

  it('of a target: one call at once, the others come back later', async () => {
    const open = gate('narrow');
    const turns = await Promise.all([1, 2].map((n) => startToolTurn(system, `narrow-${n}`, 'narrow')));
    await until(async () => asked('narrow') === 1 && (await deferred(turns)).length === 1);
    expect((await deferred(turns)).flat()).toContain('target_limit');
    open();
    for (const turn of turns) {
      expect(await turn.ended).toMatchObject(ENDED_WELL);
      expect(await answers(turn)).toBe(1);
    }
    expect(asked('narrow')).toBe(2);
  });

  it('of a tenant, and streams of the process: nothing is lost, and a session keeps its order', async () => {
    const open = gate('shared', 'other', 'third');
    const turns = await Promise.all([1, 2, 3, 4].map((n) => startToolTurn(system, `shared-${n}`, 'shared')));
    await until(async () => asked('shared') === 2 && (await deferred(turns)).length === 2);
    expect(new Set((await deferred(turns)).flat())).toEqual(new Set(['tenant_limit']));
    const more = await Promise.all(turns.map(({ session }) => system.client.prompt(session, 'and then?')));
    const other = await startToolTurn(system, 'other', 'other', {}, neighbour);
    await until(() => Promise.resolve(asked('other') === 1));
    // Three streams are open: what comes now is not even taken.
    const third = await startToolTurn(system, 'third', 'third', {}, neighbour);
    await until(async () => {
      const log = await logOf(neighbour, third.session);
      return log.some(({ type }) => type === 'step.start') && (await waiting(system)) > 0;
    });
    await sleep(300);
    expect({ shared: asked('shared'), third: asked('third') }).toEqual({ shared: 2, third: 0 });
    open();
    for (const turn of [other, third]) expect(await turn.ended).toMatchObject(ENDED_WELL);
    for (const [n, turn] of turns.entries()) {
      const { messageId, sequence: from } = more[n]!;
      const signal = AbortSignal.timeout(60_000);
      expect((await system.client.turnOf(turn.session, messageId, { from, signal })).reason).toEqual({
        kind: 'completed',
      });
      const log = await logOf(system.client, turn.session);
      const told = log.flatMap((event) =>
        event.type === 'user.message' || event.type === 'assistant.message' ? [event.type, event.data.turn] : [],
      );
      expect(told).toEqual(['user.message', 1, 'assistant.message', 1, 'user.message', 2, 'assistant.message', 2]);
    }
    expect(asked('shared')).toBe(8);
  });
});

/** Model calls that wait for a router. */
async function waiting({ bus }: ProcessSystem): Promise<number> {
  return (await bus.api<{ num_pending: number }>('CONSUMER.INFO.COMMANDS.llm-router')).num_pending;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // not there yet
  );
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await look()) return;
    await sleep(50);
  }
  throw new Error('it did not happen');
}
