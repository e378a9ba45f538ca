import type { Attempt } from '@jetloop/contracts';

/** Where an attempt was made. */
export interface AttemptWhere {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
  readonly purpose: 'step' | 'compaction';
}

/** Told of every attempt that a reply reports, for logs and metrics: codes, times and names, never what was said. */
export type AttemptObserver = (attempt: Attempt, where: AttemptWhere) => void;
