import { expect, it } from '@jest/globals';
import type { TurnEnd } from '@jetloop/contracts';
import { answerOf } from './prompt-answer.js';

it.each<[TurnEnd, string]>([
  [{ kind: 'completed' }, 'end_turn'],
  [{ kind: 'max-tokens' }, 'max_tokens'],
  [{ kind: 'max-steps' }, 'max_turn_requests'],
  [{ kind: 'budget-exceeded' }, 'max_turn_requests'],
  [{ kind: 'refused' }, 'refusal'],
  [{ kind: 'rejected', reason: 'no' }, 'refusal'],
  [{ kind: 'aborted', reason: 'cancelled' }, 'cancelled'],
  [{ kind: 'closed' }, 'cancelled'],
  [{ kind: 'interrupted' }, 'cancelled'],
])('A43 the end %j is the stop reason %s', (end, stopReason) => {
  expect(answerOf(end)).toMatchObject({ kind: 'stopped', response: { stopReason } });
});

it('A43 an error is answered as one, with name and code', () => {
  const end: TurnEnd = { kind: 'error', step: 1, message: 'on fire', code: 'server_error' };
  expect(answerOf(end, 'LlmError')).toEqual({
    kind: 'failed',
    name: 'LlmError',
    code: 'server_error',
    message: 'on fire',
  });
});
