/** Parts of an HTTP answer, byte by byte as they go over the socket. */
export interface RawHead {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A status line and headers. With `content-length` or without, `transfer-encoding` is the caller's choice. */
export function rawHead({ status = 200, headers = {} }: RawHead = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} -\r\n${lines.join('')}\r\n`;
}

/** The head of a stream of events in chunked encoding. */
export const STREAM_HEAD = rawHead({
  headers: { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' },
});

/** One chunk of a body in chunked encoding. */
export function rawChunk(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** The end of a body in chunked encoding. */
export const LAST_CHUNK = '0\r\n\r\n';
