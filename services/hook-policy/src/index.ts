export { HookPolicyModule } from './hook-policy.module.js';
export type { HookPolicyOptions } from './options.js';
export { parsePolicySet, PolicySetError, readPolicySet, type PolicySetProblem } from './rules/parse-policy-set.js';
export { type PolicySet } from './rules/policy-set.schema.js';
export { putPolicySet } from './put-policy-set.js';
export {
  definePolicy,
  type PluginContext,
  type PolicyDefinition,
  type PolicyPlugin,
  type SeamHandler,
  type SeamInput,
} from './plugin/define-policy.js';
export { loadPlugins, PolicyModuleError } from './plugin/load-plugins.js';
export { readHookPolicyOptions } from './config.js';
export type { PolicyDecisionOf } from './policy/policy-decision.js';
export { replayPolicySet, type ReplayedSeam, type ReplayOptions } from './replay/replay-policy-set.js';
