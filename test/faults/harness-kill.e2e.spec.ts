import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isRunning } from '../e2e/support/acp/is-running.js';
import { ScriptedAgent, storyOf } from '../e2e/support/acp/scripted-agent.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf } from './support/session-log.js';
import { isWhole } from './support/whole.js';

/** Milliseconds that the orchestrator stays away in a flood. */
const OUTAGE_MS = isWhole ? 30_000 : 3_000;

jest.setTimeout(90_000);

describe('an external agent and processes that die', () => {
  let system: ProcessSystem;
  let orchestrator: Awaited<ReturnType<ProcessSystem['spawn']>>;
  let bridge: Awaited<ReturnType<ProcessSystem['spawn']>>;

  beforeAll(async () => {
    system = await ProcessSystem.start({ targets: {} });
    [orchestrator, bridge] = await Promise.all([system.spawn('loop-orchestrator'), system.spawn('acp-bridge')]);
  });
  afterAll(() => system.stop());

  const begin = async (session: string, spec: ScriptedAgent['spec']) => {
    const { messageId } = await system.client.create({
      session,
      agent: { spec: { name: 'external', tools: [], ...spec } },
      workspace: system.folder,
      prompt: 'go',
    });
    const done = system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(60_000) });
    done.catch(() => undefined); // awaited later, after the kill
    return { done };
  };

  it('A36 the bridge killed after the prompt: no process 5 s later, no second prompt, the turn fails as bridge_lost', async () => {
    const agent = await ScriptedAgent.write(system.folder, async (a) => {
      await a.prompted();
      await a.update('session_info_update', { title: String(process.pid) });
      await a.sleep(80_000);
    });
    const { done } = await begin('killed-after', agent.spec);
    const pid = await until(async () => {
      const raw = (await logOf(system.client, 'killed-after')).find(({ data }) => titleOf(data) !== undefined);
      return raw && titleOf(raw.data);
    });
    bridge.kill9();
    await bridge.exited;
    await sleep(3_000);
    expect(await isRunning(pid)).toBe(false);
    bridge = await system.spawn('acp-bridge');
    expect((await done).reason).toMatchObject({ kind: 'error', code: 'bridge_lost' });
    expect((await agent.methods()).filter((method) => method === 'session/prompt')).toHaveLength(1);
  });

  it('A36 the bridge killed in the handshake: another one starts over, and the turn completes', async () => {
    const agent = await ScriptedAgent.write(system.folder, async (a) => {
      const { existsSync, writeFileSync } = await import('node:fs');
      const mark = `${process.argv[2] ?? ''}.second`;
      await a.initialize();
      if (!existsSync(mark)) {
        writeFileSync(mark, '');
        await a.sleep(80_000);
      }
      await a.answer(await a.next('session/new'), { sessionId: a.session });
      await a.stop(await a.next('session/prompt'));
    });
    const { done } = await begin('killed-before', agent.spec);
    await until(async () => (await agent.methods()).includes('session/new') || undefined);
    bridge.kill9();
    await bridge.exited;
    bridge = await system.spawn('acp-bridge');
    expect((await done).reason).toEqual({ kind: 'completed' });
    expect((await agent.methods()).filter((method) => method === 'session/prompt')).toHaveLength(1);
  });

  it('A27 A35 the orchestrator away in a flood: the bridge reads no further, and nothing is lost; no permission is answered', async () => {
    const [count, bytes] = [5_000, 4_000];
    const agent = await ScriptedAgent.write(
      system.folder,
      async (a) => {
        const { count: frames, bytes: size } = a.args as { count: number; bytes: number };
        const prompt = await a.prompted();
        await a.update('session_info_update', { title: 'ready' });
        await a.sleep(1_500);
        for (let n = 0; n < frames; n++)
          await a.update('current_mode_update', { currentModeId: `m${n} `.padEnd(size, 'x') });
        await a.ask('p1', [{ optionId: 'r', name: 'No', kind: 'reject_once' }]);
        await a.stop(prompt);
      },
      { script: { count, bytes } },
    );
    const { done } = await begin('away', agent.spec);
    await until(async () => (await logOf(system.client, 'away')).find(({ data }) => titleOf(data) === 'ready'));
    await orchestrator.stop();
    const [memory, read] = [await memoryOf(bridge.pid), await bytesRead(bridge.pid)];
    await sleep(OUTAGE_MS);
    expect((await bytesRead(bridge.pid)) - read).toBeLessThan((count * bytes) / 4);
    expect((await memoryOf(bridge.pid)) - memory).toBeLessThan(64 * 1024 * 1024);
    expect((await agent.methods()).filter((method) => method === 'answer')).toEqual([]);
    orchestrator = await system.spawn('loop-orchestrator');
    expect((await done).reason).toEqual({ kind: 'completed' });
    const modes = (await logOf(system.client, 'away')).flatMap(({ data }) => modeOf(data)?.split(' ')[0] ?? []);
    expect(modes).toEqual(Array.from({ length: count }, (_, n) => `m${n}`));
    expect((await agent.methods()).filter((method) => method === 'answer')).toHaveLength(1);
  });

  it('A30 a cancel before the bridge has begun: nothing is spawned, one aborted, and the next prompt runs', async () => {
    const agent = await ScriptedAgent.write(system.folder, async (a) => {
      await a.stop(await a.prompted());
    });
    bridge.freeze();
    const { done } = await begin('before-spawn', agent.spec);
    await until(async () => (await logOf(system.client, 'before-spawn')).find(({ type }) => type === 'step.start'));
    await system.client.cancel('before-spawn', { reason: 'enough' });
    bridge.thaw();
    expect((await done).reason).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(await agent.wire()).toEqual([]);
    const { messageId } = await system.client.prompt('before-spawn', 'again');
    const { reason } = await system.client.turnOf('before-spawn', messageId, { signal: AbortSignal.timeout(30_000) });
    expect(reason).toEqual({ kind: 'completed' });
  });

  it('A30 a cancel that crosses the response in the pipe: one aborted, and the next prompt runs', async () => {
    const [go, gone] = [join(system.folder, 'crossing.go'), join(system.folder, 'crossing.gone')];
    const agent = await ScriptedAgent.write(
      system.folder,
      async (a) => {
        const fs = await import('node:fs');
        const [start, written] = a.args as [string, string];
        const prompt = await a.prompted();
        while (!fs.existsSync(start)) await a.sleep(10);
        await a.stop(prompt);
        fs.writeFileSync(written, '');
      },
      { script: [go, gone], continuity: 'fresh' },
    );
    const { done } = await begin('crossing', agent.spec);
    await until(async () => (await agent.methods()).includes('session/prompt') || undefined);
    bridge.freeze();
    await system.client.cancel('crossing', { reason: 'enough' });
    await writeFile(go, '');
    await until(() => Promise.resolve(existsSync(gone) || undefined));
    bridge.thaw();
    expect((await done).reason).toEqual({ kind: 'aborted', reason: 'enough' });
    const log = await logOf(system.client, 'crossing');
    expect(log.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
    const { messageId } = await system.client.prompt('crossing', 'again');
    const { reason } = await system.client.turnOf('crossing', messageId, { signal: AbortSignal.timeout(30_000) });
    expect(reason).toEqual({ kind: 'completed' });
  });

  it('A39 the example agent of the SDK, by deny, allow_once and ask, approved and rejected: exactly these events', async () => {
    // At once: it takes its time, and each has its own process.
    await Promise.all(['deny', 'allow_once', 'ask-approved', 'ask-rejected'].map(expectExample));
  });

  async function expectExample(how: string): Promise<void> {
    const program = join(import.meta.dirname, '../../node_modules/acp-sdk-examples/dist/examples/agent.js');
    const [permissionPolicy, outcome] = how.split('-') as ['deny' | 'allow_once' | 'ask', ('approved' | 'rejected')?];
    const harness = { kind: 'acp' as const, command: process.execPath, args: [program], permissionPolicy };
    const session = `example-${how}`;
    const { done } = await begin(session, { harness });
    if (outcome) {
      const asked = await until(async () =>
        (await logOf(system.client, session)).find(({ type }) => type === 'approval.requested'),
      );
      const { approvalId } = asked.data as { approvalId: string };
      await system.client.decideApproval(session, approvalId, outcome);
    }
    expect((await done).reason).toEqual({ kind: 'completed' });
    const call = ['tool.call', 'session/update/tool_call'];
    const result = ['tool.result', 'session/update/tool_call_update'];
    const isAllowed = how === 'allow_once' || outcome === 'approved';
    expect([how, ...storyOf(await logOf(system.client, session))]).toEqual([
      how,
      ...['session.created', 'message.queued', 'turn.start', 'user.message', 'step.start', 'initialize', 'session/new'],
      ...[...call, ...result, ...call, 'session/request_permission'],
      ...(outcome ? ['approval.requested', 'approval.decided'] : []),
      'session/request_permission/decision',
      ...(isAllowed ? result : []),
      ...['assistant.message', 'session/prompt', ...(isAllowed ? [] : ['tool.result']), 'step.end', 'turn.end'],
    ]);
  }
});

function valueOf(data: unknown): Record<string, unknown> {
  return ((data as { value?: unknown } | null)?.value ?? {}) as Record<string, unknown>;
}

function titleOf(data: unknown): string | undefined {
  const { title } = valueOf(data);
  return typeof title === 'string' ? title : undefined;
}

function modeOf(data: unknown): string | undefined {
  const { currentModeId } = valueOf(data);
  return typeof currentModeId === 'string' ? currentModeId : undefined;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error('it did not come');
}

/** Bytes of memory that a process has for itself and others. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024;
}

/** Bytes that a process has read so far. */
async function bytesRead(pid: number): Promise<number> {
  return Number(/rchar: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
