import type { LiveDelta } from '@jetloop/contracts';

/** Deltas that are kept for a step whose beginning has not been read yet. What is more counts as lost. */
const MAX_WAITING = 1_000;

/** Live deltas may be faster than the log: they wait for the `step.start` that they belong behind. */
export class EarlyDeltas {
  private waiting: LiveDelta[] = [];

  keep(delta: LiveDelta): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(delta);
  }

  /** Those of a step that begins now. Deltas of steps before it are late for ever. */
  take({ turn, step }: { readonly turn: number; readonly step: number }): LiveDelta[] {
    const taken = this.waiting.filter((delta) => delta.turn === turn && delta.step === step);
    this.waiting = this.waiting.filter((delta) => delta.turn > turn || (delta.turn === turn && delta.step > step));
    return taken;
  }
}
