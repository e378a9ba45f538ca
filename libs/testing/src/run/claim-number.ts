import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../servers/error-facts.js';

/** Claims the smallest number from 1 to `most` that no process has claimed in this folder: making a folder is atomic. */
export async function claimNumber(folder: string, most: number): Promise<number> {
  for (let number = 1; number <= most; number += 1) {
    try {
      await mkdir(join(folder, String(number)));
      return number;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  throw new Error(`All ${most} numbers in ${folder} are claimed: raise the number of NATS accounts of the test run.`);
}
