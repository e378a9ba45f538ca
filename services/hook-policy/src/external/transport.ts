import type { EvaluationContext } from '../policy/policy.js';
import type { OpenRun } from '../evaluate/hook-runs.js';

/** What came back from outside. */
export type HookOutput =
  | {
      readonly kind: 'answer';
      readonly bytes: Uint8Array;
      /** Whether plain text is an answer, too: a program's output, not a server's page. */
      readonly plainText: boolean;
    }
  /** A refusal beside all JSON: exit code 2. */
  | { readonly kind: 'refusal'; readonly reason: string };

/** One way to ask a policy that runs outside this process. Limits of time are the signal's. @throws PolicyError, RetryableError */
export type HookTransport = (
  body: Uint8Array,
  context: Pick<EvaluationContext, 'signal'> & { readonly workspace: string | undefined },
  run: OpenRun,
) => Promise<HookOutput>;

/** Bytes of an answer that are read at most. */
export const MAX_ANSWER = 64 * 1024;
