import { assertEvent, type SessionEvent } from '@jetloop/contracts';
import type { SessionEntry } from '@jetloop/client';
import type { Terminal } from '../render/terminal.js';

/** Entries as a session would have them, one every ten milliseconds. For tests: each event is checked by its contract. */
export function entriesOf(...events: SessionEvent[]): SessionEntry[] {
  return events.map((event, sequence) => {
    assertEvent(event);
    return {
      event: { ...event, sequence, version: 1 },
      at: new Date(sequence * 10).toISOString(),
      causation: 'c1',
      actor: 'tester',
    };
  });
}

/** A terminal that remembers what was written. */
export function recordingTerminal(options: Partial<Terminal> = {}): { terminal: Terminal; written: () => string } {
  let text = '';
  const terminal = {
    isTTY: false,
    color: false,
    ...options,
    write: (piece: string) => {
      text += piece;
    },
  };
  return { terminal, written: () => text };
}

const source = { kind: 'user' } as const;
const usage = { input: 1_200, cacheRead: 0, cacheWrite: 0, output: 34 };

/** Events of a turn, with what does not matter filled in. */
export const events = {
  turnStart: (): SessionEvent => ({
    type: 'turn.start',
    data: { turn: 1, trigger: { kind: 'message', source }, messageIds: ['m1'] },
  }),
  userMessage: (text: string): SessionEvent => ({
    type: 'user.message',
    data: { turn: 1, messageId: 'm1', content: [{ type: 'text', text }], source },
  }),
  stepStart: (step: number): SessionEvent => ({ type: 'step.start', data: { turn: 1, step } }),
  answer: (step: number, text: string, cost: number | null = 0.0125): SessionEvent => ({
    type: 'assistant.message',
    data: {
      turn: 1,
      step,
      content: text === '' ? [] : [{ type: 'text', text }],
      finishReason: 'stop',
      model: { target: 'default', provider: 'p', model: 'm' },
      usage,
      cost,
      attempts: [],
    },
  }),
  call: (
    n: number,
    name: string,
    effective: Record<string, string>,
    decision: 'allow' | 'deny' = 'allow',
  ): SessionEvent => ({
    type: 'tool.call',
    data: { turn: 1, step: 1, n, callId: `call-${n}`, name, arguments: JSON.stringify(effective), effective, decision },
  }),
  result: (n: number, text: string, isError = false): SessionEvent => ({
    type: 'tool.result',
    data: { turn: 1, step: 1, n, callId: `call-${n}`, content: [{ type: 'text', text }], isError, durationMs: 12.4 },
  }),
  denied: (n: number, policy: string, reason: string): SessionEvent => ({
    type: 'policy.decided',
    data: { seam: 'pre-tool', policy, decision: 'deny', reason, callId: `call-${n}` },
  }),
  turnEnd: (): SessionEvent => ({ type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } }),
};
