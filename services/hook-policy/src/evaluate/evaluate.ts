import { policySetApplies, type HookReply, type SeamSubject } from '@jetloop/contracts';
import type { PolicyDecision } from '../policy/policy-decision.js';
import type { Policy, SeamContext } from '../policy/policy.js';
import { HookRuns } from './hook-runs.js';
import { Merge } from './merge.js';
import { runPolicy } from './run-policy.js';

/** What a seam was answered, as the reply carries it. */
export type Evaluation = Pick<HookReply, 'result' | 'observed' | 'hooks'>;

/**
 * Runs the policies of the subject's seam one after another, in ascending order, then by name; each sees what the earlier
 * ones rewrote. A deny, a block, a stop and the failure of an enforcing policy end it (spec 3.2 and 3.3).
 * @throws what the context's signal was aborted with: then nothing was decided
 */
export async function evaluate(
  policies: readonly Policy[],
  subject: SeamSubject,
  context: SeamContext,
  now: () => Date = () => new Date(),
): Promise<Evaluation> {
  const observed: HookReply['observed'] = [];
  const runs = new HookRuns(now);
  const merge = new Merge(subject);
  const end = (result: HookReply['result']): Evaluation => ({
    result,
    observed,
    hooks: runs.all(!hides(subject, result)),
  });
  for (const policy of inOrder(policies, subject, context.tenant)) {
    const outcome = await runPolicy(policy, merge.subject, context, runs);
    if (policy.mode === 'observe') {
      const noted = outcome.ok
        ? noteOf(outcome.decision)
        : { decision: 'failed', reason: `${outcome.error.code}: ${outcome.error.message}` };
      if (noted) observed.push({ policy: policy.name, ...noted });
      continue;
    }
    if (!outcome.ok) {
      observed.push(...merge.lost(`${policy.name} failed`));
      return end({ status: 'failed', policy: policy.name, error: outcome.error, ...merge.added() });
    }
    const final = merge.add(policy.name, outcome.decision);
    if (!final) continue;
    observed.push(...merge.lost(`${policy.name} decided ${outcome.decision.decision}`, final));
    return end({ status: 'decided', decision: final });
  }
  return end({ status: 'decided', decision: merge.result() });
}

/** Whether a policy of the subject's seam asks something outside this process. */
export function asksOutside(policies: readonly Policy[], subject: SeamSubject, tenant: string): boolean {
  return inOrder(policies, subject, tenant).some(({ isExternal }) => isExternal);
}

/** Where the content does not go on as it was asked about, a hook's standard error could still show it. */
function hides({ seam }: SeamSubject, result: HookReply['result']): boolean {
  const decision = result.status === 'decided' ? result.decision : undefined;
  const replaced = decision !== undefined && 'content' in decision;
  // A blocked prompt is in the log as it was; a blocked result is not.
  return seam === 'post-tool' ? replaced || decision?.decision !== 'accept' : seam === 'prompt-submit' && replaced;
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
