import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ScriptedAgent, storyOf } from '../e2e/support/acp/scripted-agent.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf } from './support/session-log.js';

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

  it('A27 A35 the orchestrator away: no permission is answered, nothing of a flood is lost', async () => {
    const agent = await ScriptedAgent.write(system.folder, async (a) => {
      const prompt = await a.prompted();
      await a.update('session_info_update', { title: 'ready' });
      await a.sleep(1_500);
      for (let n = 0; n < 5_000; n++) await a.update('current_mode_update', { currentModeId: `m${n}` });
      await a.ask('p1', [{ optionId: 'r', name: 'No', kind: 'reject_once' }]);
      await a.stop(prompt);
    });
    const { done } = await begin('away', agent.spec);
    await until(async () => {
      const log = await logOf(system.client, 'away');
      return log.some(({ data }) => titleOf(data) === 'ready') || undefined;
    });
    await orchestrator.stop();
    await sleep(4_000);
    expect((await agent.methods()).filter((method) => method === 'answer')).toEqual([]);
    orchestrator = await system.spawn('loop-orchestrator');
    expect((await done).reason).toEqual({ kind: 'completed' });
    const frames = (await logOf(system.client, 'away')).filter(({ data }) => modeOf(data) !== undefined);
    expect(frames.map(({ data }) => modeOf(data))).toEqual(Array.from({ length: 5_000 }, (_, n) => `m${n}`));
    expect((await agent.methods()).filter((method) => method === 'answer')).toHaveLength(1);
  });

  it.each(['deny', 'allow_once'] as const)(
    'A39 the example agent of the SDK, %s: exactly these events',
    async (policy) => {
      const program = join(import.meta.dirname, '../../node_modules/acp-sdk-examples/dist/examples/agent.js');
      const command = process.execPath;
      const harness = { kind: 'acp' as const, command, args: [program], permissionPolicy: policy };
      const { done } = await begin(`example-${policy}`, { harness });
      expect((await done).reason).toEqual({ kind: 'completed' });
      const call = ['tool.call', 'session/update/tool_call'];
      const result = ['tool.result', 'session/update/tool_call_update'];
      const isAllowed = policy === 'allow_once';
      expect(storyOf(await logOf(system.client, `example-${policy}`))).toEqual([
        ...[
          'session.created',
          'message.queued',
          'turn.start',
          'user.message',
          'step.start',
          'initialize',
          'session/new',
        ],
        ...[...call, ...result, ...call, 'session/request_permission', 'session/request_permission/decision'],
        ...(isAllowed ? result : []),
        ...['assistant.message', 'session/prompt', ...(isAllowed ? [] : ['tool.result']), 'step.end', 'turn.end'],
      ]);
    },
  );
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

async function isRunning(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
