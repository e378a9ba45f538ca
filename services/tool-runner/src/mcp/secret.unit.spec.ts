import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { withSecrets } from './secret.js';

describe('secrets by reference', () => {
  it('stand for themselves or as the last word; other values stay as they are', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'jetloop-secret-'));
    const file = join(folder, 'token');
    await writeFile(file, 'from a file\n');
    const values = {
      KEY: 'env:KEY',
      Authorization: 'Bearer env:KEY',
      FILE: `file:${file}`,
      LEVEL: 'debug',
      MODE: 'myenv:KEY',
    };
    expect(await withSecrets(values, { KEY: 's3cret' })).toEqual({
      KEY: 's3cret',
      Authorization: 'Bearer s3cret',
      FILE: 'from a file',
      LEVEL: 'debug',
      MODE: 'myenv:KEY',
    });
    await rm(folder, { recursive: true });
  });

  it.each(['env:ABSENT', 'file:/no/such/file'])('%s that is not there is named', async (reference) => {
    await expect(withSecrets({ X: reference }, {})).rejects.toThrow(`the secret ${reference} is not there`);
  });
});
