import type { Json } from '@jetloop/contracts';

/** A call that an external agent told of and has not ended. */
export interface HarnessCall {
  readonly n: number;
  readonly callId: string;
}

/** A permission that waits for a person. */
export interface HarnessApproval {
  readonly approvalId: string;
  readonly expiresAt: string;
}

/** A step that an external agent drives: how far its log has come (spec 6.5). */
export interface HarnessState {
  /** The worker sequence of the attempt's next event. */
  readonly next: number;
  /** By their position. */
  readonly calls: ReadonlyMap<number, HarnessCall>;
  /** By their id. */
  readonly approvals: ReadonlyMap<string, HarnessApproval>;
}

/** A step of which nothing has come yet. */
export const emptyHarness: HarnessState = { next: 0, calls: new Map(), approvals: new Map() };

/** A field of an object of JSON. */
export function fieldOf(value: Json | undefined, field: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[field] : undefined;
}
