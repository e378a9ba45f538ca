export { HookPolicyModule } from './hook-policy.module.js';
export { parsePolicySet, PolicySetError, type PolicySetProblem } from './rules/parse-policy-set.js';
export { type PolicySet } from './rules/policy-set.schema.js';
export { putPolicySet } from './put-policy-set.js';
