import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Pieces of a streamed answer. */
export const CHUNKS = 60;
const TICK_MS = 5;

export const BENCH_DIALECTS = ['chat', 'anthropic', 'google'] as const;
export type BenchDialect = (typeof BENCH_DIALECTS)[number];

/** One streamed answer, by the number in its prompt. Times of `performance.now()`. */
export interface ServedStream {
  requestAt: number;
  lastByteAt: number;
}

interface OpenStream {
  readonly response: ServerResponse;
  readonly frames: readonly string[];
  readonly served: ServedStream;
  next: number;
}

/** A provider in this process that streams an answer of 60 pieces, one every 5 ms to each request; `hold` stops it after the first. */
export class RouterProvider {
  readonly served = new Map<string, ServedStream>();
  private readonly open = new Set<OpenStream>();
  private isHeld = false;
  private ticker: NodeJS.Timeout | undefined;
  private readonly server = createServer((request, response) => {
    void this.receive(request, response);
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.ticker = setInterval(() => {
      this.tick();
    }, TICK_MS);
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Streams that are open now. */
  get openStreams(): number {
    return this.open.size;
  }

  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
  }

  async stop(): Promise<void> {
    clearInterval(this.ticker);
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    request.setEncoding('utf8');
    for await (const piece of request) body += String(piece);
    const served = { requestAt: performance.now(), lastByteAt: NaN };
    // The prompt begins with the number of the stream.
    this.served.set(/stream-(\d+)/.exec(body)?.[1] ?? '?', served);
    response.socket?.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.open.add({ response, frames: framesFor(request.url ?? ''), served, next: 0 });
  }

  private tick(): void {
    for (const stream of this.open) {
      if (this.isHeld && stream.next > 1) continue;
      const frame = stream.frames[stream.next++];
      if (frame !== undefined) stream.response.write(frame);
      if (stream.next < stream.frames.length) continue;
      stream.response.end();
      stream.served.lastByteAt = performance.now();
      this.open.delete(stream);
    }
  }
}

const words = Array.from({ length: CHUNKS }, (_, n) => `word ${n} `);
const CHAT = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
  ...words.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
]
  .map((frame) => event(undefined, frame))
  .concat(
    event(undefined, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
      event(undefined, { choices: [], usage: { prompt_tokens: 100, completion_tokens: 120, total_tokens: 220 } }) +
      'data: [DONE]\n\n',
  );
const ANTHROPIC = [
  event('message_start', {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 1 },
    },
  }) +
    event('content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...words.map((text) =>
    event('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  ),
  event('content_block_stop', { type: 'content_block_stop', index: 0 }) +
    event('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 120 },
    }) +
    event('message_stop', { type: 'message_stop' }),
];

const GOOGLE = words.map((text, n) =>
  event(undefined, {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        ...(n === CHUNKS - 1 ? { finishReason: 'STOP' } : {}),
      },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 2 * (n + 1), totalTokenCount: 102 + 2 * n },
    modelVersion: 'bench',
    responseId: 'response-1',
  }),
);

function framesFor(url: string): readonly string[] {
  if (url.endsWith('/messages')) return ANTHROPIC;
  return url.includes(':streamGenerateContent') ? GOOGLE : CHAT;
}

function event(name: string | undefined, data: unknown): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
