import { isDeepStrictEqual } from 'node:util';
import type { PolicyStore } from '@jetloop/messaging';
import { parsePolicySet } from './rules/parse-policy-set.js';

/**
 * Checks a set and stores it under its name; a bad one is refused before anything is stored. Putting the same set again changes nothing,
 * so that a restart does not make a new version (and waiting approvals stay valid).
 * @throws PolicySetError
 */
export async function putPolicySet(
  store: Pick<PolicyStore, 'sets' | 'put'>,
  text: string,
  file: string,
): Promise<{ name: string; revision: number; changed: boolean }> {
  const set = parsePolicySet(text, file);
  const stored = store.sets().get(set.name);
  if (stored && isDeepStrictEqual(stored.value, JSON.parse(JSON.stringify(set)))) {
    return { name: set.name, revision: stored.revision, changed: false };
  }
  return { name: set.name, revision: await store.put(set.name, set), changed: true };
}
