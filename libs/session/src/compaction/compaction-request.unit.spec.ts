import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent, SessionEvent } from '@jetloop/contracts';
import { COMPACTION_INSTRUCTION, compactionMessages } from './compaction-request.js';

const says = (turn: number, text: string): SessionEvent => ({
  type: 'user.message',
  data: { turn, content: [{ type: 'text', text }], source: { kind: 'user' } },
});
const answers = (turn: number, text: string): SessionEvent => ({
  type: 'assistant.message',
  data: {
    turn,
    step: 1,
    content: [{ type: 'text', text }],
    finishReason: 'stop',
    model: null,
    usage: null,
    cost: null,
    attempts: [],
  },
});
const log = [says(1, 'first'), answers(1, 'one'), says(2, 'second'), answers(2, 'two'), says(3, 'third')].map(
  (event, sequence): RecordedEvent => ({ ...event, sequence, version: 1 }),
);
const textsOf = (range: { from: number; to: number }) =>
  compactionMessages(log, range).map(({ role, content: [block] }) => [role, block?.type === 'text' && block.text]);

describe('compactionMessages', () => {
  it('holds the messages of the range, both ends included, and the instruction last', () => {
    expect(textsOf({ from: 1, to: 3 })).toEqual([
      ['assistant', 'one'],
      ['user', 'second'],
      ['assistant', 'two'],
      ['user', COMPACTION_INSTRUCTION],
    ]);
  });

  it('of an empty range is the instruction alone', () => {
    expect(textsOf({ from: 7, to: 9 })).toEqual([['user', COMPACTION_INSTRUCTION]]);
  });
});
