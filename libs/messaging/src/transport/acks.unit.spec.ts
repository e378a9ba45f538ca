import { describe, expect, it } from '@jest/globals';
import type { Msg } from 'nats';
import { setTimeout as sleep } from 'node:timers/promises';
import { Acks } from './acks.js';

describe('Acks', () => {
  const sent: string[] = [];
  const message = (name: string) =>
    ({ respond: (body: string) => sent.push(`${name} ${body}`) }) as unknown as Pick<Msg, 'respond'> as Msg;

  it('sends all of a moment together, once, and at once what waits when asked', async () => {
    const acks = new Acks();
    acks.add(message('a'));
    acks.add(message('b'));
    expect(sent).toEqual([]);
    acks.flush();
    expect(sent.splice(0)).toEqual(['a +ACK', 'b +ACK']);
    await sleep(20);
    expect(sent).toEqual([]);
    acks.add(message('c'));
    await sleep(20);
    expect(sent.splice(0)).toEqual(['c +ACK']);
  });
});
