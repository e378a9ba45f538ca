import { expect, it } from '@jest/globals';
import { WholeOutput } from './whole-output.js';

it('an output that cannot be kept is lost with one complaint, and stops nothing', async () => {
  const complaints: unknown[] = [];
  const blobs = { putStream: () => Promise.reject(new Error('not reached')) };
  const output = new WholeOutput(blobs, 'acme', 's1', (error) => complaints.push(error), '/no/such/folder');
  await output.write(Buffer.from('one'));
  await output.write(Buffer.from('two'));
  expect(await output.end()).toBeUndefined();
  expect(complaints).toEqual([expect.objectContaining({ code: 'ENOENT' })]);
});
