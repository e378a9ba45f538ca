import type { PolicyPlugin } from './plugin/define-policy.js';

/** Settings of the policy service. */
export interface HookPolicyOptions {
  /** Policies in TypeScript that sets may name; default none. */
  readonly plugins?: readonly PolicyPlugin[];
  /** Private addresses and ranges (`10.1.0.0/16`) that webhooks may be at; default none. */
  readonly webhookAddresses?: readonly string[];
  /** Milliseconds that an answer may wait for those of the questions that follow it; default 5,000. */
  readonly followingMs?: number;
}

export const HOOK_POLICY_OPTIONS = Symbol('HOOK_POLICY_OPTIONS');
