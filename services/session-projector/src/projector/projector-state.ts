import type { ProjectorStoppedError } from './projector-stopped-error.js';

/** What the projector is doing, for readiness and for people. */
export type ProjectorState =
  | { readonly status: 'starting' }
  /** Another replica projects. */
  | { readonly status: 'standby' }
  | { readonly status: 'projecting'; readonly streamSequence: number }
  /** PostgreSQL or NATS is away: it tries again. */
  | { readonly status: 'waiting'; readonly error: Error }
  /** It does not go on by itself. */
  | { readonly status: 'stopped'; readonly error: ProjectorStoppedError }
  | { readonly status: 'ended' };

/** Counted since the start of this process. */
export interface ProjectorCounts {
  readonly events: number;
  readonly quarantined: number;
  /** Commits before which the journal lacks events of their session. */
  readonly gaps: number;
}
