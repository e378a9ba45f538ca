import type { LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

/** A target that nobody calls. */
export interface Rest {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** The error that began it. */
  readonly code: string;
  /** Somebody is trying whether the target answers again: this may be over sooner. */
  readonly isProbed: boolean;
}

/** Leave to call a target. */
export interface Admission {
  /** The target gave a 2xx: a rest that this call probed is over for everybody. */
  answered(): void;
}

/** Which targets rest, the same for every replica (spec 4.3). Times come from the caller. */
export interface Cooldowns {
  /** The rest of a target at this time; undefined: none. */
  restOf(target: string, now: number): Rest | undefined;
  /** undefined: the target rests. Of a rest that is over, one caller of all replicas gets the probe; it ends by a 2xx. */
  admit(target: string, now: number): Promise<Admission | undefined>;
  /** Lets the target rest, where the error asks for it. */
  failed(target: Target, error: LlmError, now: number): Promise<void>;
  /** @returns a function that ends it */
  onChange(listener: () => void): () => void;
}
