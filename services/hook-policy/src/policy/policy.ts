import type { BlobRef, DerivedMessage, Seam, SeamSubject } from '@jetloop/contracts';
import type { OpenRun } from '../evaluate/hook-runs.js';
import type { PolicyDecision } from './policy-decision.js';

/** Where a seam is asked, for all of its policies. */
export interface SeamContext {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
  /** Of the question; the same on every delivery. */
  readonly commandId: string;
  /** Aborts at shutdown. */
  readonly signal: AbortSignal;
  /** Bytes of a content that was too long for the log. */
  readonly readBlob: (blob: BlobRef) => Promise<Uint8Array>;
  /** The conversation so far, as the model would see it. */
  readonly messages: () => Promise<readonly DerivedMessage[]>;
}

/** Where one evaluation happens. `signal` aborts at the policy's time limit, too. */
export interface EvaluationContext extends SeamContext {
  /** Says that something outside this process is asked now: the log gets a `hook.result`. */
  readonly beginRun: () => OpenRun;
}

/** What every form of policy is: rules, plugins, commands, webhooks and responders alike. */
export interface Policy {
  /** Unique: `<set>/<policy>`. Every decision carries it. */
  readonly name: string;
  readonly seams: readonly Seam[];
  /** Ascending; equal ones by name. */
  readonly order: number;
  /** An enforcing policy that fails stops what it guards; an observing one is only recorded. */
  readonly mode: 'enforce' | 'observe';
  /** Globs of the tenants and of the agents' names that it is for. */
  readonly tenants: readonly string[];
  readonly agents: readonly string[];
  /** It asks something outside this process, which takes its time. Default false. */
  readonly isExternal?: boolean;
  /** Milliseconds after which an evaluation counts as failed. Default 60 000. */
  readonly timeoutMs?: number;
  /** Answers in the decisions of the subject's seam (`policyDecisionSchemas`); everything else is a failure. */
  evaluate(subject: SeamSubject, context: EvaluationContext): Promise<PolicyDecision>;
}
