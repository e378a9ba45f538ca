import { describe, expect, it } from '@jest/globals';
import { putPolicySet } from './put-policy-set.js';

const store = () => {
  const sets = new Map<string, { revision: number; value: unknown }>();
  return {
    sets: () => sets,
    put: (name: string, value: unknown) => {
      const revision = sets.size + 1;
      sets.set(name, { revision, value });
      return Promise.resolve(revision);
    },
  };
};

describe('putting a policy set', () => {
  it('stores it, and the same set again makes no new version', async () => {
    const policies = store();
    const text = 'name: a\npolicies: [{ name: p, seam: pre-tool, decide: { deny: no } }]';
    expect(await putPolicySet(policies, text, 'a.yaml')).toEqual({ name: 'a', revision: 1, changed: true });
    expect(await putPolicySet(policies, text, 'a.yaml')).toEqual({ name: 'a', revision: 1, changed: false });
  });
});
