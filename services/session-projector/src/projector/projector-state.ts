import type { RunState } from '../run-until-stopped.js';

/** What the projector is doing, for readiness and for people. */
export type ProjectorState =
  | { readonly status: 'starting' }
  /** Another replica projects. */
  | { readonly status: 'standby' }
  | { readonly status: 'projecting'; readonly streamSequence: number }
  | RunState;

/** Counted since the start of this process. */
export interface ProjectorCounts {
  readonly events: number;
  readonly quarantined: number;
  /** Commits before which the journal lacks events of their session. */
  readonly gaps: number;
}
