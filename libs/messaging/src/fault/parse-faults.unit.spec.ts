import { describe, expect, it } from '@jest/globals';
import { parseFaults } from './parse-faults.js';

describe('JETLOOP_FAULT', () => {
  it('names points, actions and the pass at which they happen', () => {
    expect(parseFaults('commit.before:kill@3, send.after:delay=200')).toEqual([
      { point: 'commit.before', action: 'kill', delayMs: 0, nth: 3 },
      { point: 'send.after', action: 'delay', delayMs: 200, nth: 1 },
    ]);
    expect(parseFaults(undefined)).toEqual([]);
    expect(parseFaults('')).toEqual([]);
  });

  it.each(['commit:kill', 'commit.before:explode', 'elsewhere.before:kill', 'commit.before', 'commit.before:kill@0'])(
    '%s is refused with what was expected',
    (text) => {
      expect(() => parseFaults(text)).toThrow(/expected point:action/);
    },
  );
});
