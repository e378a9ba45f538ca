import type { Seam } from '@jetloop/contracts';
import {
  definePolicy,
  parsePolicySet,
  type PolicyPlugin,
  type PolicySet,
  type SeamHandler,
} from '@jetloop/hook-policy';

/** What a policy in TypeScript answers, seam by seam. */
export type AgentPolicies = { readonly [S in Seam]?: SeamHandler<S, undefined> };

/** A plugin that is named after the agent it is for, and the set that uses it; its policy is `<agent>/test`. */
export function pluginSet(agent: string, seams: AgentPolicies): { plugin: PolicyPlugin; set: PolicySet } {
  const policy = { name: 'test', seams: Object.keys(seams), plugin: agent };
  const set = parsePolicySet(JSON.stringify({ name: agent, agents: [agent], policies: [policy] }), agent);
  return { plugin: definePolicy({ name: agent, seams }), set };
}
