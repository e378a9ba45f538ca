import { isDeepStrictEqual } from 'node:util';
import type { PolicyStore } from '@jetloop/messaging';
import { askedSeams } from '@jetloop/session';
import { parsePolicySet, PolicySetError } from './rules/parse-policy-set.js';
import type { PolicySet } from './rules/policy-set.schema.js';

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
  checkAsked(set, file);
  const stored = store.sets().get(set.name);
  if (stored && isDeepStrictEqual(stored.value, JSON.parse(JSON.stringify(set)))) {
    return { name: set.name, revision: stored.revision, changed: false };
  }
  return { name: set.name, revision: await store.put(set.name, set), changed: true };
}

/** A policy at a seam that the loop does not ask yet would silently let everything pass: it is refused instead. */
function checkAsked(set: PolicySet, file: string): void {
  const problems = set.policies.flatMap((policy, index) => {
    const deaf = policy.seams.filter((seam) => !askedSeams.includes(seam));
    const message = `expected only seams that this version asks (${askedSeams.join(', ')}), got ${deaf.join(', ')}`;
    return deaf.length > 0 ? [{ path: `policies[${index}].seams`, message }] : [];
  });
  if (problems.length > 0) throw new PolicySetError(file, problems);
}
