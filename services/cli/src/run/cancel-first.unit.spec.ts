import { expect, it } from '@jest/globals';
import { cancelFirst } from './cancel-first.js';

it('cancels at the first ^C, takes a double signal as one, and gives up at the next', () => {
  const seen: string[] = [];
  let time = 0;
  const cancel = (session: string) => {
    seen.push(`cancel ${session}`);
    return Promise.resolve(1);
  };
  const press = cancelFirst(
    { cancel },
    's1',
    () => {
      seen.push('give up');
    },
    () => time,
  );
  press();
  time = 20;
  press();
  expect(seen).toEqual(['cancel s1']);
  time = 2_000;
  press();
  expect(seen).toEqual(['cancel s1', 'give up']);
});

it('gives up when the cancel itself is refused', async () => {
  const refusal = new Error('no');
  const given = Promise.withResolvers<unknown>();
  cancelFirst({ cancel: () => Promise.reject(refusal) }, 's1', given.resolve)();
  expect(await given.promise).toBe(refusal);
});
