import { describe, expect, it } from '@jest/globals';
import { chooseOption } from './permission.js';
import { finishReasonOf, stopOf } from './stop.js';

const answered = (result: Record<string, string>) => stopOf({ jsonrpc: '2.0', id: 1, result });

describe('how an attempt ends', () => {
  it.each([
    ['end_turn', 'completed', 'stop'],
    ['max_tokens', 'max-tokens', 'max-tokens'],
    ['max_turn_requests', 'max-steps', 'stop'],
    ['refusal', 'refused', 'content-filter'],
    ['cancelled', 'aborted', 'aborted'],
  ] as const)('A5 %s ends the turn %s, and is kept as the agent named it', (stopReason, outcome, finishReason) => {
    expect(answered({ stopReason })).toEqual({ outcome, stopReason });
    expect(finishReasonOf(outcome)).toBe(finishReason);
  });

  it('A4 only end_turn succeeds', () => {
    const all = [
      'end_turn',
      'max_tokens',
      'max_turn_requests',
      'refusal',
      'cancelled',
      'completed',
      'END_TURN',
      '',
      'toString',
    ];
    expect(all.filter((stopReason) => answered({ stopReason }).outcome === 'completed')).toEqual(['end_turn']);
  });

  it('A23 an unknown stop reason, and none, fail the turn as Protocol', () => {
    expect(answered({ stopReason: 'bored' })).toMatchObject({
      outcome: 'error',
      error: { name: 'Protocol' },
      stopReason: 'bored',
    });
    expect(answered({})).toMatchObject({ outcome: 'error', error: { name: 'Protocol', code: 'unknown_stop_reason' } });
    expect(stopOf({ id: 1, result: null })).toMatchObject({ outcome: 'error', error: { name: 'Protocol' } });
  });

  it('A23 a JSON-RPC error is a failure of the harness', () => {
    const error = { code: -32000, message: 'Please log in', data: { url: 'x' } };
    expect(stopOf({ jsonrpc: '2.0', id: 1, error })).toEqual({
      outcome: 'error',
      error: {
        name: 'Harness',
        code: 'rpc_-32000',
        message: 'The agent answered session/prompt with error -32000: Please log in',
      },
    });
  });
});

describe('the answer to a permission request', () => {
  const kinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
  const subsets = Array.from({ length: 16 }, (_, bits) => kinds.filter((_kind, n) => (bits >> n) & 1));

  it.each(subsets.map((subset) => [subset.join(', ') || 'nothing', subset] as const))(
    'A28 with %s offered',
    (_name, subset) => {
      const offered = subset.map((kind) => ({ optionId: `o-${kind}`, name: kind, kind }));
      const expected = (...wanted: string[]) => {
        const found = wanted.find((kind) => subset.some((one) => one === kind));
        return found === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: `o-${found}` };
      };
      for (const options of [offered, offered.toReversed()]) {
        expect(chooseOption('allow', options)).toEqual(expected('allow_once'));
        expect(chooseOption('reject', options)).toEqual(expected('reject_once', 'reject_always'));
        expect(chooseOption('cancelled', options)).toEqual({ outcome: 'cancelled' });
      }
    },
  );

  it('A28 the first of a kind is taken, and what is no option is passed over', () => {
    const options = [
      null,
      'x',
      { kind: 'allow_once' },
      { kind: 'allow_once', optionId: 'a' },
      { kind: 'allow_once', optionId: 'b' },
    ];
    expect(chooseOption('allow', options)).toEqual({ outcome: 'selected', optionId: 'a' });
  });
});
