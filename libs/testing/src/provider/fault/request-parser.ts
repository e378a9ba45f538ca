const HEAD_END = '\r\n\r\n';

/** A request as it came over the socket. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Takes requests of one connection apart; bodies need a content-length. */
export class RequestParser {
  private rest = Buffer.alloc(0);

  /** The requests that are complete with these bytes. */
  feed(bytes: Uint8Array): RawRequest[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const requests: RawRequest[] = [];
    for (let next = this.take(); next; next = this.take()) requests.push(next);
    return requests;
  }

  private take(): RawRequest | undefined {
    const end = this.rest.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.rest.subarray(0, end).toString('latin1').split('\r\n');
    const [method = '', path = ''] = first.split(' ');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const start = end + HEAD_END.length;
    const size = Number(headers['content-length'] ?? 0);
    if (this.rest.length < start + size) return undefined;
    const body = this.rest.subarray(start, start + size).toString('utf8');
    this.rest = this.rest.subarray(start + size);
    return { method, path, headers, body };
  }
}
