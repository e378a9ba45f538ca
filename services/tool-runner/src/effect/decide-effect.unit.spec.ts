import { describe, expect, it } from '@jest/globals';
import type { ToolReply } from '@jetloop/contracts';
import type { EffectEntry, StoredEffect } from '@jetloop/messaging';
import { decideEffect, MAX_AGE_MS, type EffectFacts } from './decide-effect.js';

const stored = (entry: EffectEntry, revision = 5): StoredEffect => ({ entry, revision });
const started = stored({ status: 'started', run: 'a', beat: 3 });
const result: ToolReply['result'] = { status: 'result', content: [], isError: false, durationMs: 1 };
const verdict = (facts: Partial<EffectFacts>) =>
  decideEffect({ stored: undefined, sighting: undefined, age: 0, now: 100_000, ackWaitMs: 30_000, ...facts });

describe('decideEffect', () => {
  it('starts what is not in the ledger, unless its entry could have been there and gone', () => {
    expect(verdict({})).toEqual({ kind: 'start' });
    expect(verdict({ age: MAX_AGE_MS })).toEqual({ kind: 'start' });
    expect(verdict({ age: MAX_AGE_MS + 1 })).toEqual({ kind: 'unknown' });
  });

  it('never starts what ended, however old it is', () => {
    expect(verdict({ stored: stored({ status: 'done', run: 'a', result }), age: MAX_AGE_MS + 1 }).kind).toBe('stored');
    expect(verdict({ stored: stored({ status: 'unknown', run: 'a' }) }).kind).toBe('unknown');
  });

  it('waits an ack wait for a runner, and again when it wrote meanwhile', () => {
    const first = verdict({ stored: started });
    expect(first).toEqual({ kind: 'wait', milliseconds: 30_000, sighting: { revision: 5, at: 100_000 } });
    const moved = { ...started, revision: 6 };
    expect(verdict({ stored: moved, sighting: { revision: 5, at: 1 } })).toMatchObject({
      kind: 'wait',
      sighting: { revision: 6, at: 100_000 },
    });
  });

  it('gives a runner up that did not write for a whole ack wait, no sooner', () => {
    const sighting = { revision: 5, at: 70_001 };
    expect(verdict({ stored: started, sighting })).toEqual({ kind: 'wait', milliseconds: 1, sighting });
    expect(verdict({ stored: started, sighting: { ...sighting, at: 70_000 } })).toEqual({ kind: 'give-up' });
  });
});
