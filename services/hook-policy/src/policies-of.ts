import type { PolicyForms } from './policy-forms.js';
import { neutralDecisions } from './policy/policy-decision.js';
import type { Policy } from './policy/policy.js';
import { compileConditions, type Match } from './rules/conditions.js';
import { compileDecision } from './rules/decisions.js';
import type { PolicyEntry, PolicySet } from './rules/policy-set.schema.js';
import { durationMs } from './rules/rule-parts.schema.js';

/** The policies of a set, ready to evaluate; each is named `<set>/<policy>`. */
export const policiesOf = (set: PolicySet, forms: PolicyForms): Policy[] =>
  set.policies.map((entry) => policyOf(set, entry, forms));

function policyOf(set: PolicySet, entry: PolicyEntry, forms: PolicyForms): Policy {
  const name = `${set.name}/${entry.name}`;
  const matches = compileConditions(entry.when);
  const answer = compileForm(name, entry, forms);
  return {
    name,
    seams: entry.seams,
    order: entry.order,
    mode: entry.mode,
    tenants: set.tenants,
    agents: set.agents,
    isExternal: Boolean(entry.command ?? entry.webhook ?? entry.responder),
    ...(entry.timeout !== undefined && { timeoutMs: durationMs(entry.timeout) }),
    evaluate: async (subject, context) => {
      const match = await matches(subject, context);
      return match ? answer(subject, context, match) : neutralDecisions[subject.seam];
    },
  };
}

type Answer = (...args: [...Parameters<Policy['evaluate']>, Exclude<Match, false>]) => ReturnType<Policy['evaluate']>;

function compileForm(name: string, entry: PolicyEntry, forms: PolicyForms): Answer {
  const { decide, plugin, command, webhook, responder, seams } = entry;
  if (decide) {
    const decision = compileDecision(decide);
    return async (subject, context, { detail }) => decision(subject, context, detail);
  }
  const options = { policy: name, matcher: entry.matcher, messages: entry.messages ?? true };
  if (plugin) return forms.plugin(plugin, seams);
  if (command) return forms.command(command, options);
  if (webhook) return forms.webhook(webhook, options);
  if (responder) return forms.responder(responder.name, options);
  throw new Error(`${name}: the schema lets no policy without a form through`);
}
