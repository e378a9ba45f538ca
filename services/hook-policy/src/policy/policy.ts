import type { BlobRef, Seam, SeamSubject } from '@jetloop/contracts';
import type { PolicyDecision } from './policy-decision.js';

/** Where an evaluation happens. `signal` aborts at the policy's time limit and at shutdown. */
export interface EvaluationContext {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
  readonly signal: AbortSignal;
  /** Bytes of a content that was too long for the log. */
  readBlob(blob: BlobRef): Promise<Uint8Array>;
}

/** What every form of policy is: rules now, plugins and external commands, webhooks and responders alike. */
export interface Policy {
  /** Unique; every decision carries it. A rule's is `<set>/<policy>`. */
  readonly name: string;
  readonly seams: readonly Seam[];
  /** Ascending; equal ones by name. */
  readonly order: number;
  /** An enforcing policy that fails stops what it guards; an observing one is only recorded. */
  readonly mode: 'enforce' | 'observe';
  /** Globs of the tenants and of the agents' names that it is for. */
  readonly tenants: readonly string[];
  readonly agents: readonly string[];
  /** Milliseconds after which an evaluation counts as failed. Default 60 000. */
  readonly timeoutMs?: number;
  /** Answers in the decisions of the subject's seam (`policyDecisionSchemas`); everything else is a failure. */
  evaluate(subject: SeamSubject, context: EvaluationContext): Promise<PolicyDecision>;
}
