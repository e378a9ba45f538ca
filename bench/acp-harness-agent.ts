// The external agent of the benchmark: what it does is in the text of its prompt (see acp-harness.ts).
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a prompt asks for. */
export interface AgentTask {
  readonly does: 'updates' | 'chunks' | 'ticks' | 'ask';
  readonly count: number;
  readonly pauseMs?: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly prompt?: readonly { readonly text: string }[] };
}

/** Frames of one write: an agent that is cheap itself. */
const FRAMES_A_WRITE = 50;
const SESSION = 'bench-agent';

async function write(frames: readonly object[]): Promise<void> {
  const lines = frames.map((frame) => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`).join('');
  if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
}

const update = (fields: object) => ({ method: 'session/update', params: { sessionId: SESSION, update: fields } });

async function carryOut({ does, count, pauseMs = 0 }: AgentTask): Promise<void> {
  if (does === 'ask') {
    const toolCall = { toolCallId: 'c1', title: String(process.pid) };
    const options = [{ optionId: 'no', name: 'No', kind: 'reject_once' }];
    await write([
      { id: 'ask', method: 'session/request_permission', params: { sessionId: SESSION, toolCall, options } },
    ]);
    return;
  }
  if (does === 'ticks') {
    for (let n = 0; n < count; n++) {
      // The monotonic clock is one for all processes.
      await write([update({ sessionUpdate: 'session_info_update', title: String(process.hrtime.bigint()) })]);
      await sleep(pauseMs);
    }
    return;
  }
  const fields = (n: number) =>
    does === 'updates'
      ? { sessionUpdate: 'current_mode_update', currentModeId: `mode ${n}` }
      : { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a few words ' } };
  for (let first = 0; first < count; first += FRAMES_A_WRITE) {
    const size = Math.min(FRAMES_A_WRITE, count - first);
    await write(Array.from({ length: size }, (_, n) => update(fields(first + n))));
  }
}

async function answer({ id, method, params }: Message): Promise<void> {
  if (method === 'initialize') await write([{ id, result: { protocolVersion: 1, agentCapabilities: {} } }]);
  if (method === 'session/new') await write([{ id, result: { sessionId: SESSION } }]);
  if (method === 'session/cancel') await write([{ id: open, result: { stopReason: 'cancelled' } }]);
  if (method !== 'session/prompt') return;
  open = id;
  const task = JSON.parse(params?.prompt?.[0]?.text ?? '') as AgentTask;
  await carryOut(task);
  if (task.does !== 'ask') await write([{ id, result: { stopReason: 'end_turn' } }]);
}

let open: number | undefined;
createInterface({ input: process.stdin }).on('line', (line) => void answer(JSON.parse(line) as Message));
