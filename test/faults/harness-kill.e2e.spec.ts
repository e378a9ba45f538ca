import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { subjects } from '@jetloop/contracts';
import { isRunning } from '../e2e/support/acp/is-running.js';
import { exampleLog, withoutIds } from '../e2e/support/acp/example-agent.js';
import { told, type Told } from '../e2e/support/acp/frames.js';
import { ScriptedAgent, storyOf, type Agent } from '../e2e/support/acp/scripted-agent.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf } from './support/session-log.js';
import { isWhole } from '@jetloop/testing';

/** Milliseconds that the orchestrator stays away in a flood. */
const OUTAGE_MS = isWhole ? 30_000 : 3_000;

jest.setTimeout(180_000);

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
    const done = system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(150_000) });
    done.catch(() => undefined); // awaited later, after the kill
    return { done };
  };

  it('A38 a line of 512 MiB and 400 MB of standard error: the memory of the bridge stays bounded', async () => {
    const line = await ScriptedAgent.write(system.folder, async (a) => {
      await a.prompted();
      // Cut short by the end of this process.
      for (let n = 0; n < 512; n++) await a.raw('x'.repeat(1024 * 1024));
      await a.sleep(60_000);
    });
    const loud = await ScriptedAgent.write(system.folder, async (a) => {
      const prompt = await a.prompted();
      for (let n = 0; n < 400; n++)
        await new Promise((resolve) => process.stderr.write('e'.repeat(1_000_000), resolve));
      await a.stop(prompt);
    });
    await writeFile(`/proc/${bridge.pid}/clear_refs`, '5'); // its peak counts from now on
    const before = await memoryOf(bridge.pid);
    const ends = await Promise.all([line, loud].map(async ({ spec }, n) => (await begin(`much-${n}`, spec)).done));
    expect(ends.map(({ reason }) => reason)).toMatchObject([
      { kind: 'error', code: 'frame_too_large' },
      { kind: 'completed' },
    ]);
    expect((await memoryOf(bridge.pid, 'VmHWM')) - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('A36 the bridge killed after the prompt: no process 5 s later, deaf ones and their children neither, no second prompt, the turn fails as bridge_lost', async () => {
    const agent = await ScriptedAgent.write(system.folder, async (a) => {
      const { spawn } = await import('node:child_process');
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined);
      const deaf = [
        '-e',
        "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setTimeout(() => {}, 80_000)",
      ];
      const child = spawn(process.execPath, deaf, { stdio: 'ignore' });
      await a.prompted();
      await a.update('session_info_update', { title: `${process.pid} ${child.pid}` });
      await a.sleep(80_000);
    });
    const { done } = await begin('killed-after', agent.spec);
    const title = await until(async () => {
      const raw = (await logOf(system.client, 'killed-after')).find(({ data }) => titleOf(data) !== undefined);
      return raw && titleOf(raw.data);
    });
    const pids = title.split(' ');
    expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
    bridge.kill9();
    await bridge.exited;
    expect(await leftOf(pids)).toEqual([]);
    bridge = await system.spawn('acp-bridge');
    expect((await done).reason).toMatchObject({ kind: 'error', code: 'bridge_lost' });
    expect((await agent.methods()).filter((method) => method === 'session/prompt')).toHaveLength(1);
  });

  it('A36 the bridge killed in the handshake: no process 5 s later, another bridge starts over, one prompt in all', async () => {
    const mark = join(system.folder, 'killed-before.pid');
    const agent = await ScriptedAgent.write(
      system.folder,
      async (a) => {
        const { existsSync, writeFileSync } = await import('node:fs');
        const mark = a.args as string;
        await a.initialize();
        if (!existsSync(mark)) {
          writeFileSync(mark, String(process.pid));
          await a.sleep(80_000);
        }
        await a.answer(await a.next('session/new'), { sessionId: a.session });
        await a.stop(await a.next('session/prompt'));
      },
      { script: mark },
    );
    const { done } = await begin('killed-before', agent.spec);
    await until(async () => (await agent.methods()).includes('session/new') || undefined);
    bridge.kill9();
    await bridge.exited;
    expect(await leftOf([await readFile(mark, 'utf8')])).toEqual([]);
    bridge = await system.spawn('acp-bridge');
    expect((await done).reason).toEqual({ kind: 'completed' });
    expect((await agent.methods()).filter((method) => method === 'session/prompt')).toHaveLength(1);
  });

  it('A36 the bridge killed when the handshake is in the log and the prompt is not written, or is and nothing behind it: no process 5 s later, nothing is prompted again, bridge_lost, and the next prompt runs', async () => {
    const play = async (a: Agent) => {
      const fs = await import('node:fs');
      const [mark, go] = a.args as [string, string];
      const isFirst = !fs.existsSync(mark);
      if (isFirst) fs.writeFileSync(mark, String(process.pid));
      await a.initialize();
      const created = await a.next('session/new');
      while (!fs.existsSync(go)) await a.sleep(10);
      await a.answer(created, { sessionId: a.session });
      const prompt = await a.next('session/prompt');
      if (isFirst) await a.sleep(80_000);
      await a.stop(prompt);
    };
    const start = async (name: string) => {
      const [mark, go] = [join(system.folder, `${name}.pid`), join(system.folder, `${name}.go`)];
      const agent = await ScriptedAgent.write(system.folder, play, { script: [mark, go], continuity: 'fresh' });
      const prompts = async () => (await agent.wire()).filter((line) => line.includes('"session/prompt"'));
      return { name, mark, go, agent, prompts, ...(await begin(name, agent.spec)) };
    };
    const story = async (name: string) => storyOf(await logOf(system.client, name));
    const written = await start('prompt-written');
    await writeFile(written.go, '');
    await until(async () => (await written.prompts())[0]);
    const unwritten = await start('prompt-unwritten');
    await until(async () => (await unwritten.agent.methods()).includes('session/new') || undefined);
    // Both answers are told while nobody commits them; they come into the log of a bridge that cannot see it.
    await orchestrator.stop();
    const isTold = Promise.withResolvers<undefined>();
    const seen = system.bus.nats.subscribe(subjects.reply(system.tenant, unwritten.name, 'acp'), {
      callback: () => {
        isTold.resolve(undefined);
      },
    });
    await system.bus.nats.flush();
    await writeFile(unwritten.go, '');
    await isTold.promise;
    seen.unsubscribe();
    bridge.freeze();
    orchestrator = await system.spawn('loop-orchestrator');
    await until(async () => (await story(unwritten.name)).includes('session/new') || undefined);
    expect((await story(written.name)).slice(-2)).toEqual(['initialize', 'session/new']);
    expect([await written.prompts(), await unwritten.prompts()].map(({ length }) => length)).toEqual([1, 0]);
    bridge.kill9();
    await bridge.exited;
    const pids = await Promise.all([written, unwritten].map(({ mark }) => readFile(mark, 'utf8')));
    expect(await leftOf(pids)).toEqual([]);
    bridge = await system.spawn('acp-bridge');
    for (const { name, done, prompts } of [written, unwritten]) {
      expect((await done).reason).toMatchObject({ kind: 'error', code: 'bridge_lost' });
      const errors = (await logOf(system.client, name)).filter(({ type }) => type === 'turn.error');
      expect(errors.map(({ data }) => data)).toMatchObject([{ error: { name: 'Transport', code: 'bridge_lost' } }]);
      expect((await story(name)).slice(-4)).toEqual(['session/new', 'turn.error', 'step.end', 'turn.end']);
      const before = (await prompts()).length;
      expect([name, before]).toEqual([name, name === written.name ? 1 : 0]);
      const { messageId } = await system.client.prompt(name, 'again');
      const next = await system.client.turnOf(name, messageId, { signal: AbortSignal.timeout(30_000) });
      expect(next.reason).toEqual({ kind: 'completed' });
      const more = (await prompts()).slice(before);
      expect(more).toHaveLength(1);
      expect(more[0]).toContain('again');
    }
  });

  it('A35 the orchestrator away in a flood: the bridge reads no further, and nothing is lost', async () => {
    const [count, bytes] = [5_000, 4_000];
    const go = join(system.folder, 'flood.go');
    const agent = await ScriptedAgent.write(
      system.folder,
      async (a) => {
        const fs = await import('node:fs');
        const { count: frames, bytes: size } = a.args as { count: number; bytes: number };
        const prompt = await a.prompted();
        await a.update('session_info_update', { title: 'ready' });
        while (!fs.existsSync((a.args as { go: string }).go)) await a.sleep(10);
        for (let n = 0; n < frames; n++)
          await a.update('current_mode_update', { currentModeId: `m${n} `.padEnd(size, 'x') });
        await a.ask('p1', [{ optionId: 'r', name: 'No', kind: 'reject_once' }]);
        await a.stop(prompt);
      },
      { script: { count, bytes, go } },
    );
    const { done } = await begin('away', agent.spec);
    await until(async () => (await logOf(system.client, 'away')).find(({ data }) => titleOf(data) === 'ready'));
    await orchestrator.stop();
    const [memory, read] = [await memoryOf(bridge.pid), await bytesRead(bridge.pid)];
    await writeFile(go, '');
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

  it('A27 the orchestrator stopped: permission requests that the bridge has read are not answered, before their ask and decision are in the log', async () => {
    const go = join(system.folder, 'ask.go');
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    const asked: Record<string, string[]> = { deny: [], allow_once: [], ask: [] };
    const ask = async (policy: 'deny' | 'allow_once' | 'ask') => {
      const agent = await ScriptedAgent.write(
        system.folder,
        async (a) => {
          const fs = await import('node:fs');
          const prompt = await a.prompted();
          await a.update('session_info_update', { title: 'ready' });
          while (!fs.existsSync((a.args as { go: string }).go)) await a.sleep(10);
          await a.ask('p1', (a.args as unknown as { options: Parameters<typeof a.ask>[1] }).options);
          await a.stop(prompt);
        },
        { script: { go, options }, permissionPolicy: policy },
      );
      const { done } = await begin(`asked-${policy}`, agent.spec);
      await until(async () =>
        (await logOf(system.client, `asked-${policy}`)).find(({ data }) => titleOf(data) === 'ready'),
      );
      const seen = system.bus.nats.subscribe(subjects.reply(system.tenant, `asked-${policy}`, 'acp'), {
        callback: (_error, { data }) => {
          const { events = [] } = JSON.parse(Buffer.from(data).toString()) as { events?: Told[] };
          asked[policy]?.push(...storyOf(events));
        },
      });
      return { policy, agent, done, seen };
    };
    const all = await Promise.all((['deny', 'allow_once', 'ask'] as const).map(ask));
    await orchestrator.stop();
    await writeFile(go, '');
    const [question, decision] = ['session/request_permission', 'session/request_permission/decision'];
    const told = { deny: [question, decision], allow_once: [question, decision], ask: [question] };
    await until(() => Promise.resolve(JSON.stringify(asked) === JSON.stringify(told) || undefined));
    await sleep(1_500); // long enough for an answer that goes out without the log
    for (const { agent } of all) expect(await agent.methods()).not.toContain('answer');
    for (const { policy } of all)
      expect(storyOf(await logOf(system.client, `asked-${policy}`))).not.toContain('session/request_permission');
    orchestrator = await system.spawn('loop-orchestrator');
    const asking = await until(async () =>
      (await logOf(system.client, 'asked-ask')).find(({ type }) => type === 'approval.requested'),
    );
    await system.client.decideApproval('asked-ask', (asking.data as { approvalId: string }).approvalId, 'approved');
    for (const { policy, agent, done, seen } of all) {
      expect((await done).reason).toEqual({ kind: 'completed' });
      seen.unsubscribe();
      const optionId = policy === 'deny' ? 'no' : 'yes';
      expect((await agent.wire()).filter((line) => !line.includes('"method"'))).toEqual([
        `{"jsonrpc":"2.0","id":"p1","result":{"outcome":{"outcome":"selected","optionId":"${optionId}"}}}`,
      ]);
      const story = storyOf(await logOf(system.client, `asked-${policy}`));
      expect(story.filter((one) => [question, decision].includes(one))).toEqual([question, decision]);
    }
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
    const log = await logOf(system.client, session);
    expect(log.slice(0, 5).map(({ type }) => type)).toEqual([
      ...['session.created', 'message.queued', 'turn.start', 'user.message', 'step.start'],
    ]);
    expect([how, ...withoutIds(told(log.slice(5)))]).toEqual([
      how,
      ...exampleLog({ policy: permissionPolicy, ...(outcome && { outcome }) }),
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

/** The processes that still run 5 s later; none, as soon as there is none. */
async function leftOf(pids: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const isLate = Date.now() >= deadline;
    const areRunning = await Promise.all(pids.map(isRunning));
    const left = pids.filter((_, index) => areRunning[index]);
    if (isLate || left.length === 0) return left;
    await sleep(50);
  }
}

/** Bytes of memory that a process has, or had at most. */
async function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) * 1_024;
}

/** Bytes that a process has read so far. */
async function bytesRead(pid: number): Promise<number> {
  return Number(/rchar: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
