import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { linkedSignal } from './linked-signal.js';

describe('a linked signal', () => {
  it.each([0, 1])('is aborted with the reason of signal %i', (index) => {
    const controllers = [new AbortController(), new AbortController()];
    const { signal } = linkedSignal(...controllers.map((one) => one.signal));
    expect(signal.aborted).toBe(false);
    controllers[index]?.abort('enough');
    controllers[1 - index]?.abort('too late');
    expect(signal).toMatchObject({ aborted: true, reason: 'enough' });
  });

  it('is aborted from the start when one of them is', () => {
    expect(linkedSignal(new AbortController().signal, AbortSignal.abort('before')).signal).toMatchObject({
      aborted: true,
      reason: 'before',
    });
  });

  it('can be aborted alone, and the others are not', () => {
    const other = new AbortController();
    const linked = linkedSignal(other.signal);
    linked.abort('alone');
    expect(linked.signal).toMatchObject({ aborted: true, reason: 'alone' });
    expect(other.signal.aborted).toBe(false);
  });

  it('leaves nothing on the others once it is unlinked', () => {
    const other = new AbortController();
    const linked = linkedSignal(other.signal);
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(1);
    linked.unlink();
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0);
    other.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});
