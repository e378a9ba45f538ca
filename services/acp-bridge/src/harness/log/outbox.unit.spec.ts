import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { HarnessEvent } from '@jetloop/contracts';
import { Outbox } from './outbox.js';

const event = (n: number): HarnessEvent => ({ type: 'harness.raw', data: { source: 'test', value: n } });

it('what is pushed at any moment around an acknowledgement leaves at once', async () => {
  for (let ticks = 0; ticks < 20; ticks++) {
    const published: number[] = [];
    const stored = Promise.withResolvers<undefined>();
    const outbox = new Outbox({
      ...{ from: 0, maxBytes: 1_000, batchMs: 60_000 },
      shrink: (one) => Promise.resolve(one),
      publish: async (from) => {
        published.push(from);
        await stored.promise;
      },
      onFlow: () => undefined,
      onFailure: (error) => {
        throw error;
      },
    });
    outbox.push([event(0)], true);
    await turnOfLoop();
    stored.resolve(undefined);
    for (let n = 0; n < ticks; n++) await Promise.resolve();
    outbox.push([event(1)], true);
    await turnOfLoop();
    expect([ticks, published]).toEqual([ticks, [0, 1]]);
  }
});
