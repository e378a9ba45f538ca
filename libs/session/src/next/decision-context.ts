import type { Seam } from '@jetloop/contracts';

/** Inputs of a decision that are not the log: time, and which seams have policies for this session, in which version. */
export interface DecisionContext {
  /** RFC 3339. */
  readonly now: string;
  readonly seams: ReadonlySet<Seam>;
  /** Of all policy sets for this session; an approval is bound to it. */
  readonly policyVersion: string;
}
