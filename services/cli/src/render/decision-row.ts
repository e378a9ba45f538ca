import { textOf, type SeamDecision } from '@jetloop/contracts';
import type { ReplayedSeam } from '@jetloop/hook-policy';

/** A row of what a policy set would have decided: event, seam, what it is about, decision, policy, why. */
export function decisionRow({ sequence, subject, result, observed, notAsked }: ReplayedSeam): string[] {
  const beside = [
    ...observed.map(({ policy, decision }) => `${policy} observes: ${decision}`),
    ...notAsked.map((policy) => `${policy} was not asked`),
  ];
  const about =
    'name' in subject ? subject.name : 'content' in subject ? textOf(subject.content).replaceAll(/\s+/g, ' ') : '';
  const row = (decision: string, policy: string, why: string) => [
    String(sequence),
    subject.seam,
    about.slice(0, 60),
    decision,
    policy,
    [...(why === '' ? [] : [why]), ...beside].join('; '),
  ];
  if (result.status === 'deferred') return row('deferred', '', result.deferred.reason);
  if (result.status === 'failed') return row('failed', result.policy, result.error.message);
  return row(nameOf(result.decision), policyOf(result.decision), whyOf(result.decision));
}

function nameOf(decision: SeamDecision): string {
  const rewrites = ('content' in decision && decision.content) ?? ('arguments' in decision && decision.arguments);
  if (decision.decision !== 'ask' && rewrites) return 'rewrite';
  return decision.decision === 'block-result' ? 'block' : decision.decision;
}

function policyOf(decision: SeamDecision): string {
  if ('policy' in decision) return decision.policy;
  const added = decision.context.map(({ policy }) => policy);
  return [...new Set([...('policies' in decision ? decision.policies : []), ...added])].join(', ');
}

function whyOf(decision: SeamDecision): string {
  if ('reason' in decision) return decision.reason ?? '';
  if ('feedback' in decision) return decision.feedback;
  return 'question' in decision ? (decision.question ?? '') : '';
}
