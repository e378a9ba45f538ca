import { neutralDecisions } from '../policy/policy-decision.js';
import type { Policy } from '../policy/policy.js';
import { compileConditions } from './conditions.js';
import { compileDecision } from './decisions.js';
import type { PolicySet, Rule } from './policy-set.schema.js';

/** The policies of a set, ready to evaluate; each is named `<set>/<policy>`. */
export const policiesOf = (set: PolicySet): Policy[] => set.policies.map((rule) => policyOf(set, rule));

function policyOf(set: PolicySet, rule: Rule): Policy {
  const matches = compileConditions(rule.when);
  const decide = compileDecision(rule.decide);
  return {
    name: `${set.name}/${rule.name}`,
    seams: rule.seams,
    order: rule.order,
    mode: rule.mode,
    tenants: set.tenants,
    agents: set.agents,
    evaluate: async (subject, context) => {
      const match = await matches(subject, context);
      return match ? decide(subject, context, match.detail) : neutralDecisions[subject.seam];
    },
  };
}
