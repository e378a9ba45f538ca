import type { LiveDelta } from '@jetloop/contracts';

/** What has been shown of an answer while it streamed, so that the recorded one adds only what is missing. */
export class StreamedText {
  private attemptId: string | undefined;
  private key = '';
  private shown = '';
  private readonly discarded = new Set<string>();
  private readonly recorded = new Set<string>();

  /**
   * Takes a piece of text. `restart`: the text before it belongs to an attempt that was given up.
   * Undefined: it is not to be shown any more (an attempt given up, an answer that is recorded already).
   */
  take({ attemptId, turn, step, text = '' }: LiveDelta): { text: string; restart: boolean } | undefined {
    const key = `${turn}.${step}`;
    if (this.discarded.has(attemptId) || this.recorded.has(key)) return undefined;
    const restart = this.key === key && this.attemptId !== attemptId && this.shown !== '';
    if (this.key !== key || this.attemptId !== attemptId) this.shown = '';
    this.key = key;
    this.attemptId = attemptId;
    this.shown += text;
    return { text, restart };
  }

  /** An attempt is given up. @returns whether some of its text was shown */
  reset({ attemptId }: LiveDelta): boolean {
    this.discarded.add(attemptId);
    const wasShown = this.attemptId === attemptId && this.shown !== '';
    if (this.attemptId === attemptId) this.shown = '';
    return wasShown;
  }

  /** The answer is recorded. What is still to be shown: the rest, or all of it when what was shown is something else. */
  settle(turn: number, step: number, text: string): { text: string; restart: boolean } {
    const key = `${turn}.${step}`;
    this.recorded.add(key);
    const shown = this.key === key ? this.shown : '';
    this.shown = '';
    this.discarded.clear();
    if (text.startsWith(shown)) return { text: text.slice(shown.length), restart: false };
    return { text, restart: true };
  }
}
