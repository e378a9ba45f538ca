import { randomUUID } from 'node:crypto';
import type { ToolReply } from '@jetloop/contracts';
import { PublishUnknownError, RetryableError, type EffectStore, type StoredEffect } from '@jetloop/messaging';
import { decideEffect, type Sighting } from './decide-effect.js';
import { EffectRun } from './effect-run.js';

type Result = ToolReply['result'];

export interface EffectLedgerOptions {
  /** Milliseconds after which an unacknowledged command is delivered again. */
  readonly ackWaitMs: number;
  /** Told when an entry could not be rewritten in time. */
  readonly onMissedBeat: (effectId: string, error: unknown) => void;
}

/** What becomes of a call that must not run twice. */
export type Begun =
  | { readonly kind: 'run'; readonly run: EffectRun }
  | { readonly kind: 'stored'; readonly result: Result }
  | { readonly kind: 'unknown' };

/** Sightings that are remembered; the oldest goes first. */
const MAX_SIGHTINGS = 10_000;

/** Lets each effect run at most once, over all runners and deliveries (spec 8.2). */
export class EffectLedger {
  readonly #sightings = new Map<string, Sighting>();

  constructor(
    private readonly store: EffectStore,
    private readonly options: EffectLedgerOptions,
  ) {}

  /**
   * Starts the effect, or says what came of it.
   * @param age milliseconds since the call became outstanding
   * @throws RetryableError while another runner is at it
   */
  async begin(effectId: string, age: number, redelivered: boolean): Promise<Begun> {
    const { ackWaitMs } = this.options;
    // A first delivery finds an entry only where a command was sent twice: the write that creates it finds out by itself.
    let stored = redelivered || age > ackWaitMs ? await this.store.get(effectId) : undefined;
    for (;;) {
      const sighting = this.#sightings.get(effectId);
      const verdict = decideEffect({ stored, sighting, age, now: performance.now(), ackWaitMs });
      switch (verdict.kind) {
        case 'start': {
          const started = await this.#start(effectId);
          if (started) return started;
          break;
        }
        case 'stored':
          if (stored?.entry.status === 'done') return { kind: 'stored', result: stored.entry.result };
          break;
        case 'unknown':
          return { kind: 'unknown' };
        case 'wait':
          this.#remember(effectId, verdict.sighting);
          throw new RetryableError(`effect ${effectId} is at another runner`, { delayMs: verdict.milliseconds });
        case 'give-up':
          if (await this.#giveUp(effectId, stored)) return { kind: 'unknown' };
      }
      stored = await this.store.get(effectId);
    }
  }

  /** Whether the ledger has the effect: its command then only waits, it is not what kills its runners. */
  async knows(effectId: string): Promise<boolean> {
    return (await this.store.get(effectId)) !== undefined;
  }

  /** False when the runner wrote after all. */
  async #giveUp(effectId: string, stored: StoredEffect | undefined): Promise<boolean> {
    if (!stored) return false;
    const unknown = { status: 'unknown', run: stored.entry.run } as const;
    return (await this.store.put(effectId, unknown, stored.revision)) !== 'moved';
  }

  /** Undefined when another delivery was first. */
  async #start(effectId: string): Promise<Begun | undefined> {
    const id = randomUUID();
    const revision = await this.#create(effectId, id);
    if (revision === undefined) return undefined;
    const { ackWaitMs, onMissedBeat } = this.options;
    const run = new EffectRun(this.store, { effectId, id, revision }, ackWaitMs / 3, (error) => {
      onMissedBeat(effectId, error);
    });
    return { kind: 'run', run };
  }

  async #create(effectId: string, id: string): Promise<number | undefined> {
    try {
      const created = await this.store.put(effectId, { status: 'started', run: id, beat: 0 }, 0);
      return created === 'moved' ? undefined : created;
    } catch (error) {
      if (!(error instanceof PublishUnknownError)) throw error;
      // No answer: if our entry is there, nobody else can have started it.
      const stored = await this.store.get(effectId);
      if (stored?.entry.run === id) return stored.revision;
      throw error;
    }
  }

  #remember(effectId: string, sighting: Sighting): void {
    const [oldest] = this.#sightings.keys();
    if (oldest !== undefined && this.#sightings.size >= MAX_SIGHTINGS) this.#sightings.delete(oldest);
    this.#sightings.set(effectId, sighting);
  }
}
