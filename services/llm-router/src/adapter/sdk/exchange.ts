import { AttemptFailure } from '../http/attempt-failure.js';
import { EventReader, type ServerEvent } from '../http/event-reader.js';
import { jsonOrText } from '../http/json-or-text.js';
import { nextBytes } from '../http/next-bytes.js';
import { llmError, providerError, type RequestFacts } from '../http/provider-error.js';
import { refusesReasoningState } from '../http/reasoning-refusal.js';
import type { Upstream, UpstreamHead, UpstreamRequest } from '../http/upstream.js';
import type { FrameReader, SdkDialect } from './sdk-dialect.js';

const MAX_ERROR_BODY = 64 * 1024;
/** Headers that carry a key: taken out where the target has none, since an SDK refuses to work without. */
const KEY_HEADERS = ['x-api-key', 'x-goog-api-key'];

export interface ExchangeOptions {
  readonly upstream: Upstream;
  readonly dialect: Pick<SdkDialect, 'asWhole'>;
  readonly reader: FrameReader;
  readonly stream: boolean;
  readonly hasKey: boolean;
  /** @param bodyLength characters of the request */
  readonly facts: (bodyLength: number) => RequestFacts;
}

/**
 * The one HTTP request of an attempt, as the `fetch` of an SDK: timers, abort and framing act on the bytes. A failure is
 * kept and ends the body in order, so that the SDK still hands on what came before it.
 */
export class Exchange {
  failure: AttemptFailure | undefined;
  private isUsed = false;
  private readonly events = new EventReader();
  private isAtEnd = false;
  private bodyLength = 0;

  constructor(private readonly options: ExchangeOptions) {}

  /** What the provider's words are judged and cleaned with. */
  get facts(): RequestFacts {
    return this.options.facts(this.bodyLength);
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    try {
      // Google's SDK continues a long answer by a request of its own; an attempt makes one.
      if (this.isUsed) throw new AttemptFailure(llmError('protocol', 'the SDK asked for a second request'));
      this.isUsed = true;
      await this.open(input instanceof Request ? input.url : String(input), init);
      return new Response(this.body(), { headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      this.keep(error);
      throw error;
    }
  };

  private async open(url: string, init: RequestInit | undefined): Promise<void> {
    const { upstream, dialect, stream } = this.options;
    const body = typeof init?.body === 'string' ? init.body : '';
    this.bodyLength = body.length;
    const asked = stream ? { url, body } : dialect.asWhole({ url, body });
    const head = await upstream.open({ ...asked, headers: this.headers(init) });
    if (head.status < 200 || head.status >= 300) throw await this.refusal(head);
  }

  private headers(init: RequestInit | undefined): UpstreamRequest['headers'] {
    const headers = new Headers(init?.headers);
    if (!this.options.hasKey) for (const name of KEY_HEADERS) headers.delete(name);
    return Object.fromEntries(headers);
  }

  private async refusal(head: UpstreamHead): Promise<AttemptFailure> {
    const body = jsonOrText(await this.options.upstream.readAll(MAX_ERROR_BODY));
    const error = providerError({ ...head, body }, this.facts, Date.now());
    return new AttemptFailure(error, refusesReasoningState(head.status, body));
  }

  private body(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const frames = await this.frames();
          if (frames)
            for (const frame of frames) controller.enqueue(encoder.encode(`data: ${JSON.stringify(frame)}\n\n`));
          else controller.close();
        },
      },
      // Bytes are read when somebody waits for them, else a slow reader would look like a silent provider.
      { highWaterMark: 0 },
    );
  }

  /** The next frames for the SDK, at least one; undefined at the end of the answer, however it came. */
  private async frames(): Promise<object[] | undefined> {
    const { reader, upstream } = this.options;
    const frames: object[] = [];
    while (frames.length === 0 && !this.isAtEnd) {
      try {
        const bytes = await nextBytes(upstream, reader);
        this.isAtEnd = bytes === undefined;
        for (const event of bytes ? this.events.feed(bytes) : this.events.end()) {
          if (!reader.isOver) frames.push(...reader.frame(payloadOf(event)));
        }
        const whole = bytes ? undefined : this.events.whole();
        if (whole !== undefined) {
          for (const frame of reader.framesOf(jsonOrText(whole))) frames.push(...reader.frame(frame));
        }
        this.isAtEnd ||= reader.isOver;
      } catch (error) {
        this.keep(error);
        this.isAtEnd = true;
      }
    }
    return frames.length > 0 ? frames : undefined;
  }

  private keep(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error;
    this.failure ??=
      error instanceof AttemptFailure
        ? error
        : new AttemptFailure(llmError('protocol', `the exchange failed (${name})`));
  }
}

function payloadOf({ data }: ServerEvent): unknown {
  const value = jsonOrText(data);
  if (typeof value === 'object') return value;
  throw new AttemptFailure(llmError('protocol', 'an event of the stream is not a JSON object'));
}
