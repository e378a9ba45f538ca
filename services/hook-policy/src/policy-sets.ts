import { readPolicySetHeader } from '@jetloop/contracts';
import { policiesOf } from './policies-of.js';
import type { PolicyForms } from './policy-forms.js';
import { PolicyError } from './policy/policy-error.js';
import type { Policy } from './policy/policy.js';
import { readPolicySet } from './rules/parse-policy-set.js';

/** Stored sets by name, as the bucket gives them. */
export type StoredSets = ReadonlyMap<string, { revision: number; value: unknown }>;

/** The policies of the stored sets. Each revision of a set is read once; a removed set is gone with the next look. */
export class PolicySets {
  private known = new Map<string, { revision: number; policies: readonly Policy[] }>();

  constructor(private readonly forms: PolicyForms) {}

  policies(stored: StoredSets): Policy[] {
    const current: typeof this.known = new Map();
    for (const [name, { revision, value }] of stored) {
      const before = this.known.get(name);
      current.set(name, before?.revision === revision ? before : { revision, policies: read(name, value, this.forms) });
    }
    this.known = current;
    return [...current.values()].flatMap((set) => set.policies);
  }
}

function read(name: string, value: unknown, forms: PolicyForms): readonly Policy[] {
  try {
    const set = readPolicySet(value, `policy set ${name}`);
    if (set.name === name) return policiesOf(set, forms);
    return [failing(name, value, `it is named ${set.name}: expected the name it is stored under`)];
  } catch (error) {
    return [failing(name, value, error instanceof Error ? error.message : String(error))];
  }
}

/** Stands for a set that cannot be read: where it would apply, every evaluation fails and nothing passes undecided. */
function failing(name: string, value: unknown, problem: string): Policy {
  const header = readPolicySetHeader(name, value);
  return {
    name,
    seams: header.policies.flatMap((policy) => policy.seams),
    // First of all: a rewrite or a deny of another set does not hide that this one is broken.
    order: Number.NEGATIVE_INFINITY,
    mode: 'enforce',
    tenants: header.tenants,
    agents: header.agents,
    evaluate: () => Promise.reject(new PolicyError('invalid_policy_set', problem)),
  };
}
