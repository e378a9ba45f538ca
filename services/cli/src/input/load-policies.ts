import { parsePolicySet, PolicySetError, type PolicySet } from '@jetloop/hook-policy';
import { UsageError } from '../usage-error.js';
import { readText } from './read-text.js';

/** Reads policy sets, one a file. @throws UsageError naming file, line and path of what is wrong */
export async function loadPolicies(files: readonly string[]): Promise<PolicySet[]> {
  const sets = await Promise.all(files.map(loadPolicySet));
  const twice = sets.find(({ name }, index) => sets.findIndex((other) => other.name === name) < index);
  if (twice) throw new UsageError(`Two of the policy files are named ${twice.name}: expected distinct names.`);
  return sets;
}

async function loadPolicySet(file: string): Promise<PolicySet> {
  const text = await readText(file, 'policy file');
  try {
    return parsePolicySet(text, file);
  } catch (error) {
    if (error instanceof PolicySetError) throw new UsageError(error.message);
    throw error;
  }
}
