import type { SeamSubject } from '@jetloop/contracts';
import { RetryableError } from '@jetloop/messaging';
import { policyDecisionSchemas, type PolicyDecision } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { EvaluationContext, Policy } from '../policy/policy.js';

const DEFAULT_TIMEOUT_MS = 60_000;

export type PolicyOutcome =
  { ok: true; decision: PolicyDecision } | { ok: false; error: { code: string; message: string } };

/** One evaluation: within its time, and checked against what the seam knows. Never throws for what the policy does. @throws RetryableError */
export async function runPolicy(
  policy: Policy,
  subject: SeamSubject,
  context: EvaluationContext,
): Promise<PolicyOutcome> {
  const limit = new AbortController();
  const timeoutMs = policy.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timer = setTimeout(() => {
    limit.abort(new PolicyError('timeout', `expected a decision within ${timeoutMs} ms, got none`));
  }, timeoutMs);
  const signal = AbortSignal.any([context.signal, limit.signal]);
  try {
    const answer: unknown = await untilAborted(policy.evaluate(subject, { ...context, signal }), signal);
    const parsed = policyDecisionSchemas[subject.seam].safeParse(answer);
    if (parsed.success) return { ok: true, decision: parsed.data };
    return { ok: false, error: { code: 'invalid_decision', message: describe(parsed.error.issues) } };
  } catch (error) {
    // Shutdown and lost infrastructure decide nothing: the question is asked again.
    if (context.signal.aborted || error instanceof RetryableError) throw error;
    const code = error instanceof PolicyError ? error.code : 'crash';
    return { ok: false, error: { code, message: error instanceof Error ? error.message : String(error) } };
  } finally {
    clearTimeout(timer);
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const describe = (issues: readonly { path: PropertyKey[]; message: string }[]): string =>
  issues.map((issue) => `${issue.path.map(String).join('.') || 'decision'}: ${issue.message}`).join('; ');
