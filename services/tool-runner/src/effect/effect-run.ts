import type { ToolReply } from '@jetloop/contracts';
import { PublishUnknownError, type EffectEntry, type EffectStore } from '@jetloop/messaging';

const TRIES = 5;

/** An effect that runs here: its entry is rewritten until it ends, so that others see that its runner lives. */
export class EffectRun {
  readonly #beats: NodeJS.Timeout;
  #writing: Promise<unknown> = Promise.resolve();
  readonly #effectId: string;
  /** Of this run alone. */
  readonly #id: string;
  #revision: number;
  #isBeating = false;
  #beat = 0;

  constructor(
    private readonly store: EffectStore,
    { effectId, id, revision }: { readonly effectId: string; readonly id: string; readonly revision: number },
    beatMs: number,
    private readonly onMissedBeat: (error: unknown) => void,
  ) {
    this.#effectId = effectId;
    this.#id = id;
    this.#revision = revision;
    this.#beats = setInterval(() => {
      this.#rewrite();
    }, beatMs);
  }

  /** Writes how it ended. `lost`: another runner gave this one up, and what it did is not known to anybody any more. */
  end(how: { status: 'done'; result: ToolReply['result'] } | { status: 'unknown' }): Promise<'kept' | 'lost'> {
    clearInterval(this.#beats);
    const write = this.#writing.then(() => this.#write({ ...how, run: this.#id }));
    this.#writing = write.catch(() => undefined);
    return write;
  }

  /** Gives the entry up as it is: it will be met again, and called unknown. */
  abandon(): void {
    clearInterval(this.#beats);
  }

  #rewrite(): void {
    // A write that waits for the server is beat enough: others would only queue behind it.
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#writing = this.#write({ status: 'started', run: this.#id, beat: ++this.#beat })
      .catch(this.onMissedBeat)
      .finally(() => {
        this.#isBeating = false;
      });
  }

  async #write(entry: EffectEntry): Promise<'kept' | 'lost'> {
    for (let tries = 1; ; tries++) {
      const written = await this.store.put(this.#effectId, entry, this.#revision).catch((error: unknown) => {
        if (!(error instanceof PublishUnknownError) || tries === TRIES) throw error;
        return 'unanswered' as const;
      });
      if (typeof written === 'number') {
        this.#revision = written;
        return 'kept';
      }
      const stored = await this.store.get(this.#effectId);
      // A write without an answer may have come through: then it is our own entry that stands in the way.
      if (stored?.entry.run !== this.#id || stored.entry.status === 'unknown')
        return entry.status === 'unknown' && stored?.entry.status === 'unknown' ? 'kept' : 'lost';
      this.#revision = stored.revision;
      if (stored.entry.status === 'done') return entry.status === 'done' ? 'kept' : 'lost';
    }
  }
}
