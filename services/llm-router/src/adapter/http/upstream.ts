import { Agent, request } from 'undici';
import { AttemptClock, type AttemptLimits } from './attempt-clock.js';
import { AttemptFailure } from './attempt-failure.js';
import { codeOf } from './error-code.js';
import { llmError } from './provider-error.js';
import type { HeaderValues } from './retry-after.js';

// One HTTP request has its own timers here, so undici's are off. HTTP/1 alone: an abort must close the socket.
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false });
/** A provider that has said all may take this long to end the body, so that its connection can be used again. */
const DRAIN_MS = 250;
const ABORTED = llmError('aborted', 'the call was aborted');

export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}
export interface UpstreamHead {
  readonly status: number;
  readonly headers: HeaderValues;
}

/** One HTTP request with the limits of its target; every failure is an AttemptFailure. Close it, whatever happened. */
export class Upstream {
  private readonly controller = new AbortController();
  private readonly clock: AttemptClock;
  private readonly onAbort = () => {
    this.fail(new AttemptFailure(ABORTED));
  };
  private failure: AttemptFailure | undefined;
  private body: Awaited<ReturnType<typeof request>>['body'] | undefined;
  private bytes: AsyncIterator<unknown> | undefined;
  private next: Promise<IteratorResult<unknown>> | undefined;
  private ended = false;

  constructor(
    limits: AttemptLimits,
    private readonly signal: AbortSignal,
  ) {
    this.clock = new AttemptClock(limits, (phase) => {
      this.fail(new AttemptFailure(llmError('timeout', `the provider kept still: ${phase} timeout`, { phase })));
    });
    if (signal.aborted) this.onAbort();
    else signal.addEventListener('abort', this.onAbort, { once: true });
  }

  async open({ url, headers, body }: UpstreamRequest): Promise<UpstreamHead> {
    try {
      this.controller.signal.throwIfAborted();
      const answer = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher,
        signal: this.controller.signal,
      });
      this.body = answer.body;
      // What breaks after the last read (an abort while draining) is nobody's any more.
      this.body.on('error', () => undefined);
      this.bytes = this.body.iterator({ destroyOnReturn: false });
      return { status: answer.statusCode, headers: answer.headers };
    } catch (error) {
      throw this.failure ?? new AttemptFailure(networkError(error, false));
    }
  }

  /** The next bytes; undefined at the end, or after `silenceMs` without any. */
  async read(silenceMs?: number): Promise<Uint8Array | undefined> {
    if (!this.bytes || this.ended) return undefined;
    this.clock.waitForBytes();
    try {
      this.next ??= this.bytes.next();
      const result = await (silenceMs === undefined ? this.next : orSilence(this.next, silenceMs));
      if (this.failure) throw this.failure;
      if (result === undefined) return undefined;
      this.next = undefined;
      this.clock.bytesCame();
      if (result.value instanceof Uint8Array) return result.value;
      this.ended = true;
      return undefined;
    } catch (error) {
      throw this.failure ?? new AttemptFailure(networkError(error, true));
    }
  }

  /** All of a body up to `limit` bytes, as text. */
  async readAll(limit: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for (let size = 0, chunk = await this.read(); chunk && size < limit; chunk = await this.read()) {
      size += chunk.length;
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }

  contentCame(): void {
    this.clock.contentCame();
  }

  /** Frees timers and connection: one whose body is at its end is kept for the next request, any other is closed. */
  close(): void {
    this.clock.stop();
    this.signal.removeEventListener('abort', this.onAbort);
    const { body } = this;
    this.next?.catch(() => undefined); // it can only fail by the closing itself
    if (!body || this.failure) {
      this.controller.abort();
      return;
    }
    if (this.ended || this.next) {
      body.destroy();
      return;
    }
    const timer = setTimeout(() => body.destroy(), DRAIN_MS);
    body.once('close', () => {
      clearTimeout(timer);
    });
    // The iterator listens as long as it lives, and then nothing flows.
    void this.bytes?.return?.().then(() => body.resume());
  }

  private fail(failure: AttemptFailure): void {
    this.failure ??= failure;
    this.controller.abort();
    this.body?.destroy();
  }
}

async function orSilence<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Only the code of what broke: the objects of HTTP clients carry the whole request. */
function networkError(error: unknown, inBody: boolean) {
  const code = codeOf(error);
  const ended = inBody && (code === 'UND_ERR_SOCKET' || code === 'HPE_INVALID_EOF_STATE');
  if (ended) return llmError('incomplete_stream', 'the provider closed the connection in the middle of its answer');
  return llmError('network', `the connection to the provider failed (${code})`, { providerCode: code });
}
