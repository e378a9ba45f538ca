import { policySetApplies, type HookReply, type SeamSubject } from '@jetloop/contracts';
import type { PolicyDecision } from '../policy/policy-decision.js';
import type { EvaluationContext, Policy } from '../policy/policy.js';
import { Merge } from './merge.js';
import { runPolicy } from './run-policy.js';

/** What a seam was answered, as the reply carries it. */
export type Evaluation = Pick<HookReply, 'result' | 'observed'>;

/**
 * Runs the policies of the subject's seam one after another, in ascending order, then by name; each sees what the earlier
 * ones rewrote. A deny, a block, a stop and the failure of an enforcing policy end it (spec 3.2 and 3.3).
 * @throws what the context's signal was aborted with: then nothing was decided
 */
export async function evaluate(
  policies: readonly Policy[],
  subject: SeamSubject,
  context: EvaluationContext,
): Promise<Evaluation> {
  const observed: HookReply['observed'] = [];
  const merge = new Merge(subject);
  for (const policy of inOrder(policies, subject, context.tenant)) {
    const outcome = await runPolicy(policy, merge.subject, context);
    if (policy.mode === 'observe') {
      const noted = outcome.ok
        ? noteOf(outcome.decision)
        : { decision: 'failed', reason: `${outcome.error.code}: ${outcome.error.message}` };
      if (noted) observed.push({ policy: policy.name, ...noted });
      continue;
    }
    if (!outcome.ok) return { result: { status: 'failed', policy: policy.name, error: outcome.error }, observed };
    const final = merge.add(policy.name, outcome.decision);
    if (final) return { result: { status: 'decided', decision: final }, observed };
  }
  return { result: { status: 'decided', decision: merge.result() }, observed };
}

function inOrder(policies: readonly Policy[], subject: SeamSubject, tenant: string): Policy[] {
  return policies
    .filter(
      (policy) =>
        policy.seams.includes(subject.seam) && policySetApplies(forWhom(policy), { tenant, agent: subject.agent }),
    )
    .sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const forWhom = (policy: Policy): { tenants: string[]; agents: string[] } => ({
  tenants: [...policy.tenants],
  agents: [...policy.agents],
});

/** What an observing policy would have done; nothing when it would have changed nothing. */
function noteOf(decision: PolicyDecision): { decision: string; reason?: string } | undefined {
  switch (decision.decision) {
    case 'deny':
      return { decision: 'deny', reason: decision.reason };
    case 'block':
      return { decision: 'block', reason: 'reason' in decision ? decision.reason : decision.feedback };
    case 'ask':
      return { decision: 'ask', ...(decision.question !== undefined && { reason: decision.question }) };
    case 'continue':
      return { decision: 'continue', ...(decision.reason !== undefined && { reason: decision.reason }) };
    case 'stop':
    case 'compact':
      return { decision: decision.decision };
    case 'none':
    case 'allow':
    case 'accept': {
      if ('content' in decision && decision.content) return { decision: 'rewrite' };
      if ('arguments' in decision && decision.arguments) return { decision: 'rewrite' };
      return 'context' in decision && decision.context ? { decision: 'context' } : undefined;
    }
  }
}
