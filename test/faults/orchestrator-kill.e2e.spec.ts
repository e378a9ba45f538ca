import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ProcessSystem } from './support/process-system.js';
import { comparable, logOf, problemsOf } from './support/session-log.js';

jest.setTimeout(60_000);

const targets = {
  looks: {
    provider: 'scripted',
    dialect: 'scripted' as const,
    model: 'scripted',
    script: [
      { match: { hasToolResult: true }, reply: { text: 'I have looked.' } },
      { reply: { toolCalls: [{ name: 'list_dir', arguments: {} }] } },
    ],
  },
};

/** One turn: create with a prompt, tool list, answer with a call, result, last answer. */
const COMMITS = 5;
const SENDS = 4;

const cases = [...times('commit', COMMITS), ...times('send', SENDS), ...times('outcome', 1), ...times('ack', COMMITS)];

function times(point: string, count: number): string[] {
  const passes = Array.from({ length: count }, (_, index) => index + 1);
  return passes.flatMap((nth) => [`${point}.before:kill@${nth}`, `${point}.after:kill@${nth}`]);
}

describe('an orchestrator that is killed', () => {
  let system: ProcessSystem;
  let undisturbed: unknown;

  beforeAll(async () => {
    system = await ProcessSystem.start({ targets });
    await Promise.all([system.spawn('llm-router'), system.spawn('tool-runner')]);
    const orchestrator = await system.spawn('loop-orchestrator');
    undisturbed = await turn('undisturbed');
    await orchestrator.stop();
  });
  afterAll(() => system.stop());

  async function turn(session: string): Promise<unknown> {
    const agent = system.agent('looks', { tools: ['list_dir'] });
    const { messageId } = await system.client.create({
      session,
      agent,
      workspace: system.folder,
      prompt: 'look around',
    });
    const { reason } = await system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(30_000) });
    expect(reason).toEqual({ kind: 'completed' });
    const log = await logOf(system.client, session);
    expect(problemsOf(log)).toEqual([]);
    return comparable(log, session);
  }

  it.each(cases)('L38 %s: the turn completes after a restart, with the log of an undisturbed run', async (fault) => {
    const session = fault.replaceAll(/[.:@]/g, '-');
    const doomed = await system.spawn('loop-orchestrator', { JETLOOP_FAULT: fault });
    const done = turn(session);
    done.catch(() => undefined); // awaited below, after the kill
    expect(await doomed.exited).toBe('SIGKILL');
    const next = await system.spawn('loop-orchestrator');
    expect(await done).toEqual(undisturbed);
    expect(await next.stop()).toBe(0);
  });
});
