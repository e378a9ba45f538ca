import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventData } from '@jetloop/contracts';
import type { ModelScript } from '@jetloop/testing';
import type { ProcessSystem } from './process-system.js';
import { logOf, problemsOf } from './session-log.js';

/** The counter tools, for `JETLOOP_TOOL_MODULES`. */
export const counterModule = join(import.meta.dirname, '../../fixtures/tools/counter.mjs');

/** A model that calls a tool, so many times one after another (default once), and then is done. */
export function callsTool(name: string, args: unknown = {}, { times = 1, delayMs = 0 } = {}): ModelScript {
  return ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (results >= times) return { text: 'done' };
    return { calls: [{ id: `call_${results + 1}`, name, arguments: args }], delayMs };
  };
}

export interface ToolTurn {
  readonly session: string;
  readonly workspace: string;
  /** The turn's end, the results in its log, and what is wrong with the log. */
  readonly ended: Promise<{ reason: unknown; results: EventData<'tool.result'>[]; problems: string[] }>;
}

/** Begins a session in a folder of its own, with one prompt to an agent whose model is `target`. */
export async function startToolTurn(
  system: ProcessSystem,
  session: string,
  target: string,
  spec: Parameters<ProcessSystem['agent']>[1] = {},
  client = system.client,
): Promise<ToolTurn> {
  const workspace = join(system.folder, session);
  await mkdir(workspace, { recursive: true });
  const agent = system.agent(target, { tools: ['*'], ...spec });
  const { messageId } = await client.create({ session, agent, workspace, prompt: 'go' });
  const ended = (async () => {
    const { reason } = await client.turnOf(session, messageId, { signal: AbortSignal.timeout(90_000) });
    const log = await logOf(client, session);
    const results = log.flatMap((event) => (event.type === 'tool.result' ? [event.data] : []));
    return { reason, results, problems: problemsOf(log) };
  })();
  ended.catch(() => undefined); // awaited by the test
  return { session, workspace, ended };
}

/** Resolves when a tool of a session first says something. Call it before the turn begins. */
export function begunIn({ bus, tenant }: ProcessSystem, session: string): Promise<void> {
  return new Promise((resolve) => {
    const subscription = bus.nats.subscribe(`live.${tenant}.${session}.tool`, {
      callback: () => {
        subscription.unsubscribe();
        resolve();
      },
    });
  });
}

/** Effect ids that a counter wrote, in order. */
export function effectsOf({ workspace }: ToolTurn, tool: string): Promise<string[]> {
  return linesOf(join(workspace, `${tool}.log`));
}

/** The runs of a counter, in order: their effect ids, and the processes that they were in. */
export async function runsOf({ workspace }: ToolTurn, tool: string): Promise<{ effectId: string; pid: number }[]> {
  const lines = await linesOf(join(workspace, `${tool}.runs`));
  return lines.map((line) => {
    const [effectId = '', pid] = line.split(' ');
    return { effectId, pid: Number(pid) };
  });
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}
