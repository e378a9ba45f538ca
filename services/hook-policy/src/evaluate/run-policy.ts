import { assertJson, NotJsonError, type SeamSubject } from '@jetloop/contracts';
import { RetryableError } from '@jetloop/messaging';
import { policyDecisionSchemas, type PolicyDecision } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { Policy, SeamContext } from '../policy/policy.js';
import type { HookRuns } from './hook-runs.js';
import { withinLimit } from './within-limit.js';

const DEFAULT_TIMEOUT_MS = 60_000;

export type PolicyOutcome =
  { ok: true; decision: PolicyDecision } | { ok: false; error: { code: string; message: string } };

/** One evaluation: within its time, and checked against what the seam knows. Never throws for what the policy does. @throws RetryableError */
export async function runPolicy(
  policy: Policy,
  subject: SeamSubject,
  context: SeamContext,
  runs: HookRuns,
): Promise<PolicyOutcome> {
  const timeoutMs = policy.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const late = () => new PolicyError('timeout', `expected a decision within ${timeoutMs} ms, got none`);
  const beginRun = () => runs.begin(policy.name);
  try {
    const answer = await withinLimit<unknown>(context.signal, timeoutMs, late, (signal) =>
      untilAborted(policy.evaluate(subject, { ...context, signal, beginRun }), signal),
    );
    const decision = checkDecision(subject, answer);
    runs.end('ok');
    return { ok: true, decision };
  } catch (error) {
    // Shutdown and lost infrastructure decide nothing: the question is asked again.
    if (context.signal.aborted || error instanceof RetryableError) throw error;
    const { code, status } = error instanceof PolicyError ? error : { code: 'crash', status: 'crash' };
    runs.end(status);
    return { ok: false, error: { code, message: error instanceof Error ? error.message : String(error) } };
  }
}

/** @throws PolicyError `invalid_decision` */
function checkDecision({ seam }: SeamSubject, answer: unknown): PolicyDecision {
  const parsed = policyDecisionSchemas[seam].safeParse(answer);
  if (!parsed.success) throw new PolicyError('invalid_decision', describe(parsed.error.issues));
  try {
    for (const [field, value] of Object.entries(parsed.data)) if (value !== undefined) assertJson(field, value);
  } catch (error) {
    if (error instanceof NotJsonError) throw new PolicyError('invalid_decision', error.message);
    throw error;
  }
  return parsed.data;
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
