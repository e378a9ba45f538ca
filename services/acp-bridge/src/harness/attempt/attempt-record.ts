import type { FinishReason, HarnessEvent, Json } from '@jetloop/contracts';
import type { Outbox } from '../log/outbox.js';
import type { Secrets } from '../process/secrets.js';
import type { Frame, Received } from '../translation/frame.js';
import { answer, breakOff, record, translate } from '../translation/translate.js';
import { beginTranslation, type Translated, type Translation } from '../translation/translation.js';
import type { LiveDeltas } from './live-deltas.js';

/** What an attempt tells the log, in order, and what is shown of it meanwhile. */
export class AttemptRecord {
  private translation: Translation;
  /** Answers of the handshake: they reach the log in one piece, all of them or none. */
  private ofHandshake: HarnessEvent[] = [];

  constructor(
    where: Parameters<typeof beginTranslation>[0],
    sequence: number,
    private readonly to: { readonly outbox: Outbox; readonly live: LiveDeltas; readonly secrets: Secrets },
  ) {
    this.translation = beginTranslation(where, sequence);
  }

  /** The agent's session, once there is one. */
  get agentSession(): string | undefined {
    return this.translation.agentSession;
  }

  set agentSession(agentSession: string | undefined) {
    this.translation = { ...this.translation, agentSession };
  }

  /** Whether the prompt was answered, or will not be any more. */
  get isAnswered(): boolean {
    return this.translation.answered;
  }

  /** A frame of the agent that is no answer. */
  take(frame: Frame): void {
    this.commit(translate(this.translation, frame, Date.now()));
  }

  /** Keeps something at once; its worker sequence. `frame`: the request that it is of. */
  keep(source: string, value: Json, frame?: Received): number {
    const { sequence } = this.translation;
    this.push(this.recorded(source, value, frame), true);
    return sequence;
  }

  /** Keeps an answer of the handshake until `handshakeOver`. */
  keepHandshake(source: string, value: Json): void {
    this.ofHandshake.push(...this.recorded(source, value));
  }

  handshakeOver(): void {
    this.push(this.ofHandshake, true);
    this.ofHandshake = [];
  }

  /** The answer to the prompt. */
  answered(frame: Received, finishReason: FinishReason): void {
    this.commit(answer(this.translation, frame, finishReason));
  }

  /** There will be no answer. */
  breakOff(): void {
    this.commit(breakOff(this.translation));
  }

  private recorded(source: string, value: Json, frame?: Received): HarnessEvent[] {
    const { state, translated } = record(this.translation, source, value, frame);
    this.translation = state;
    return translated.flatMap((one) => ('event' in one ? [one.event] : []));
  }

  private commit({ state, translated }: { state: Translation; translated: readonly Translated[] }): void {
    this.translation = state;
    const events: HarnessEvent[] = [];
    for (const one of translated) {
      if ('event' in one) events.push(one.event);
      else this.to.live.publish({ ...one.delta, text: this.to.secrets.text(one.delta.text) });
    }
    this.push(events);
  }

  private push(events: readonly HarnessEvent[], urgent = false): void {
    const clean = events.map((event) => this.to.secrets.event(event));
    this.to.outbox.push(clean, urgent);
  }
}
