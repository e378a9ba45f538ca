import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '@jetloop/contracts';
import type { SessionEntry } from './session-entry.js';
import { TurnOfMessage } from './turn-of-message.js';

type Unplaced = RecordedEvent extends infer E ? (E extends RecordedEvent ? Pick<E, 'type' | 'data'> : never) : never;

function entry(event: Unplaced): SessionEntry {
  return { event: { sequence: 0, version: 1, ...event }, at: '', causation: 'c', actor: 'a' };
}
const start = (turn: number, ...messageIds: string[]) =>
  entry({
    type: 'turn.start',
    data: { turn, trigger: { kind: 'message', source: { kind: 'user' } }, messageIds },
  });
const end = (turn: number) => entry({ type: 'turn.end', data: { turn, reason: { kind: 'completed' } } });

function outcomeOf(messageId: string, entries: readonly SessionEntry[]) {
  const turn = new TurnOfMessage(messageId);
  return entries.map((one) => turn.see(one)).find((outcome) => outcome !== undefined);
}

describe('TurnOfMessage', () => {
  it('is over when the turn that took the message ends, not when another one does', () => {
    expect(outcomeOf('m2', [start(1, 'm1'), end(1), start(2, 'm2')])).toBeUndefined();
    expect(outcomeOf('m2', [start(1, 'm1'), end(1), start(2, 'm2'), end(2)])).toEqual({
      turn: 2,
      reason: { kind: 'completed' },
    });
  });

  it('follows a message that joined an open turn as steering', () => {
    const steering = entry({
      type: 'steering.message',
      data: { turn: 1, messageId: 'm2', content: [{ type: 'text', text: 'x' }], source: { kind: 'user' } },
    });
    expect(outcomeOf('m2', [start(1, 'm1'), steering, end(1)])).toMatchObject({ turn: 1 });
  });

  it('is over without a turn when the message is discarded', () => {
    const discarded = entry({ type: 'message.discarded', data: { messageId: 'm1', reason: 'cancelled' } });
    expect(outcomeOf('m1', [discarded])).toEqual({ turn: undefined, reason: { kind: 'aborted', reason: 'cancelled' } });
  });
});
