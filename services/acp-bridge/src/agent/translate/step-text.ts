import type { LiveDelta } from '@jetloop/contracts';

export type TextKind = 'text' | 'reasoning';

/** A piece of text that goes out now. Pieces of one message have one id; another id begins a new message. */
export interface TextPiece {
  readonly kind: TextKind;
  readonly text: string;
  readonly messageId: string;
}

/** Text of one kind of one attempt. Never both: sent live and not yet recorded (`ahead`), recorded and not yet come live (`behind`, characters). */
interface Cursor {
  ahead: string;
  behind: number;
  /** The id under which `ahead` went out. */
  sentAs: string | undefined;
}

interface AttemptText {
  /** Number of the next delta. */
  next: number;
  /** A delta is missing: from here on only the log is believed. */
  isLost: boolean;
  readonly cursors: Record<TextKind, Cursor>;
  /** Messages that the log has of it so far: one of a model, any number of an external agent. */
  messages: number;
}

/**
 * The text of one step, from live deltas and from the log, each piece once. Deltas go out while they are contiguous; what
 * is recorded then gives the rest: all of it where deltas were lost, nothing where all of them came.
 */
export class StepText {
  private readonly attempts = new Map<string, AttemptText>();
  private current: string | undefined;

  /**
   * @param place ends the ids of messages whose attempt is unknown
   * @param suffix ends every id: a part of the step was shown under the plain one before, by a connection that is gone
   */
  constructor(
    private readonly place: string,
    private readonly suffix = '',
  ) {}

  /** Gives what of a delta is new. */
  delta(delta: LiveDelta): TextPiece | undefined {
    const { attemptId, n, kind, text = '' } = delta;
    const attempt = this.attempt(attemptId);
    const isOfOther = this.current !== undefined && this.current !== attemptId && n > 0;
    // What was recorded of an unknown attempt may be what this one says: then only the log can tell.
    const isRecorded = this.current === undefined && this.attempts.has(this.place);
    if (n !== attempt.next || isOfOther || isRecorded) attempt.isLost = true;
    if (attempt.isLost) return undefined;
    attempt.next = n + 1;
    this.current = attemptId;
    if (kind !== 'text' && kind !== 'reasoning') return undefined;
    const cursor = attempt.cursors[kind];
    const known = Math.min(cursor.behind, text.length);
    cursor.behind -= known;
    const fresh = text.slice(known);
    if (fresh === '') return undefined;
    cursor.ahead += fresh;
    cursor.sentAs = this.idOf(attemptId, attempt, kind, delta.messageId);
    return { kind, text: fresh, messageId: cursor.sentAs };
  }

  /** A delta that is not shown: what it held comes from the log. */
  lose({ attemptId }: LiveDelta): void {
    this.attempt(attemptId).isLost = true;
  }

  /**
   * Gives what of a recorded text was not sent yet.
   * @param attemptId of the attempt that answered, where the log says it
   */
  recorded(kind: TextKind, text: string, attemptId?: string): TextPiece | undefined {
    const id = this.answering(attemptId);
    const attempt = this.attempt(id);
    const cursor = attempt.cursors[kind];
    if (cursor.ahead.startsWith(text)) {
      cursor.ahead = cursor.ahead.slice(text.length);
      return undefined;
    }
    if (text.startsWith(cursor.ahead)) {
      const rest = text.slice(cursor.ahead.length);
      const messageId = (cursor.ahead === '' ? undefined : cursor.sentAs) ?? this.idOf(id, attempt, kind);
      cursor.ahead = '';
      cursor.behind += rest.length;
      return { kind, text: rest, messageId };
    }
    // Sent and recorded differ: what was sent stays, what counts comes as a message of its own.
    attempt.isLost = true;
    attempt.messages++;
    cursor.ahead = '';
    return { kind, text, messageId: this.idOf(id, attempt, kind) };
  }

  /** The id of a message that is being recorded, for its blocks that are no text. */
  messageId(attemptId?: string): string {
    const id = this.answering(attemptId);
    return this.idOf(id, this.attempt(id), 'text');
  }

  /** All blocks of a message were recorded: what comes is another one. */
  endMessage(attemptId?: string): void {
    this.attempt(this.answering(attemptId)).messages++;
  }

  private answering(attemptId: string | undefined): string {
    return attemptId ?? this.current ?? this.place;
  }

  private attempt(attemptId: string): AttemptText {
    const known = this.attempts.get(attemptId);
    if (known) return known;
    const cursor = (): Cursor => ({ ahead: '', behind: 0, sentAs: undefined });
    const begun = { next: 0, isLost: false, cursors: { text: cursor(), reasoning: cursor() }, messages: 0 };
    this.attempts.set(attemptId, begun);
    return begun;
  }

  private idOf(attemptId: string, { messages }: AttemptText, kind: TextKind, own?: string): string {
    const parts = [attemptId, own, kind === 'reasoning' ? 'thought' : undefined, messages > 0 ? messages : undefined];
    return `${parts.filter((part) => part !== undefined).join('.')}${this.suffix}`;
  }
}
