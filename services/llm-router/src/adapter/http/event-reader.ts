import { createParser } from 'eventsource-parser';
import { AttemptFailure } from './attempt-failure.js';
import { llmError } from './provider-error.js';

/** Characters of one event, or of a whole body: no provider sends more. */
export const MAX_BODY = 32 * 1024 * 1024;

export interface ServerEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Reads a body in pieces of any size as server-sent events. A body that begins with a bracket, brace or angle is no
 * stream, whatever its content type says: it is kept, for `whole()`.
 */
export class EventReader {
  private readonly decoder = new TextDecoder();
  private readonly events: ServerEvent[] = [];
  private readonly pieces: string[] = [];
  private size = 0;
  private mode: 'unknown' | 'events' | 'whole' = 'unknown';
  private overflowed = false;
  private readonly parser = createParser({
    maxBufferSize: MAX_BODY,
    onEvent: ({ event, data }) => this.events.push({ event, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') this.overflowed = true;
    },
  });

  /** @throws AttemptFailure when an event or a whole body is too large */
  feed(bytes: Uint8Array): ServerEvent[] {
    return this.add(this.decoder.decode(bytes, { stream: true }));
  }

  /** What is left at the end of the body: a last event without its blank line counts. */
  end(): ServerEvent[] {
    const rest = this.add(this.decoder.decode());
    return this.mode === 'whole' ? rest : [...rest, ...this.add('\n\n')];
  }

  /** The body, if it was none of events. */
  whole(): string | undefined {
    return this.mode === 'whole' ? this.pieces.join('') : undefined;
  }

  private add(text: string): ServerEvent[] {
    if (this.mode === 'unknown') {
      const first = /\S/.exec(text)?.[0];
      if (first !== undefined) this.mode = '{[<'.includes(first) ? 'whole' : 'events';
    }
    if (this.mode === 'whole') {
      this.pieces.push(text);
      this.size += text.length;
    } else {
      this.parser.feed(text);
    }
    if (this.overflowed || this.size > MAX_BODY) {
      throw new AttemptFailure(llmError('protocol', `the answer holds more than ${MAX_BODY} characters in one piece`));
    }
    return this.events.splice(0);
  }
}
