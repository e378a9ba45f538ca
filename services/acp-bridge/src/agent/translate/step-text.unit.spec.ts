import { describe, expect, it } from '@jest/globals';
import type { LiveDelta } from '@jetloop/contracts';
import fc from 'fast-check';
import { StepText, type TextKind, type TextPiece } from './step-text.js';

const delta = (n: number, text: string, attemptId = 'a', kind: LiveDelta['kind'] = 'text'): LiveDelta => ({
  ...{ turn: 1, step: 1, attemptId, n, kind, text },
});

function textOf(pieces: readonly (TextPiece | undefined)[], kind: TextKind = 'text'): string {
  return pieces.map((piece) => (piece?.kind === kind ? piece.text : '')).join('');
}

describe('StepText', () => {
  it('sends nothing of what came live once it is recorded', () => {
    const step = new StepText('1.1');
    expect(step.delta(delta(0, 'Hello '))).toEqual({ kind: 'text', text: 'Hello ', messageId: 'a' });
    expect(step.delta(delta(1, 'world'))).toMatchObject({ text: 'world', messageId: 'a' });
    expect(step.recorded('text', 'Hello world', 'a')).toBeUndefined();
  });

  it('gives the rest under the same id where a delta was lost, and believes no later delta', () => {
    const step = new StepText('1.1');
    step.delta(delta(0, 'Hello '));
    expect(step.delta(delta(2, '!'))).toBeUndefined();
    expect(step.recorded('text', 'Hello world!', 'a')).toEqual({ kind: 'text', text: 'world!', messageId: 'a' });
    expect(step.delta(delta(3, '?'))).toBeUndefined();
  });

  it('gives all of it under the id of the attempt where nothing came live', () => {
    expect(new StepText('1.1').recorded('text', 'Hello', 'a')).toEqual({ kind: 'text', text: 'Hello', messageId: 'a' });
    expect(new StepText('1.1').recorded('text', 'Hello')).toMatchObject({ messageId: '1.1' });
  });

  it('leaves what a superseded attempt said, and begins a new message with the next one', () => {
    const step = new StepText('1.1');
    const pieces = [
      step.delta(delta(0, 'Wro')),
      step.delta(delta(1, '', 'a', 'reset')),
      step.delta(delta(0, 'Right', 'b')),
      step.delta(delta(2, 'ng')),
      step.recorded('text', 'Right!', 'b'),
    ];
    expect(pieces.map((piece) => piece && [piece.messageId, piece.text])).toEqual([
      ['a', 'Wro'],
      undefined,
      ['b', 'Right'],
      undefined,
      ['b', '!'],
    ]);
  });

  it('gives what was recorded as a message of its own where other text was sent', () => {
    const step = new StepText('1.1');
    step.delta(delta(0, 'Hallo'));
    expect(step.recorded('text', 'Hello', 'a')).toEqual({ kind: 'text', text: 'Hello', messageId: 'a.1' });
  });

  it('tells the messages of an external agent apart, early and late deltas alike', () => {
    const step = new StepText('1.1');
    step.delta(delta(0, 'first'));
    expect(step.recorded('text', 'first, then')).toMatchObject({ text: ', then' });
    step.endMessage();
    expect(step.delta(delta(1, ', then'))).toBeUndefined();
    expect(step.delta(delta(2, 'second'))).toEqual({ kind: 'text', text: 'second', messageId: 'a.1' });
    expect(step.recorded('text', 'second')).toBeUndefined();
  });

  it('sends each text once, whatever of it comes live, in whatever pieces, before or after it is recorded', () => {
    const piece = fc.record({
      kind: fc.constantFrom<TextKind>('text', 'reasoning'),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
      isLost: fc.boolean(),
      isLate: fc.boolean(),
    });
    const messages = fc.array(fc.array(piece, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(messages, fc.boolean(), (all, loses) => {
        const step = new StepText('1.1');
        const sent: (TextPiece | undefined)[] = [];
        let n = 0;
        let late: LiveDelta[] = [];
        for (const pieces of all) {
          const early = pieces.findIndex(({ isLate }) => isLate);
          const now = pieces.map(({ kind, text, isLost }, index) => ({
            delta: delta(n++, text, 'a', kind),
            isLost: loses && isLost,
            isEarly: late.length === 0 && (early === -1 || index < early),
          }));
          for (const one of now) {
            if (one.isLost) continue;
            if (one.isEarly) sent.push(step.delta(one.delta));
            else late.push(one.delta);
          }
          for (const kind of ['reasoning', 'text'] as const) {
            const recorded = pieces.map((one) => (one.kind === kind ? one.text : '')).join('');
            if (recorded !== '') sent.push(step.recorded(kind, recorded));
          }
          step.endMessage();
          for (const one of late) sent.push(step.delta(one));
          late = [];
        }
        for (const kind of ['reasoning', 'text'] as const) {
          const said = all.flat().map((one) => (one.kind === kind ? one.text : ''));
          expect(textOf(sent, kind)).toBe(said.join(''));
        }
      }),
    );
  });
});
