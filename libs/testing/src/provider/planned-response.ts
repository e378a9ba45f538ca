import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

/**
 * A step of a planned answer: bytes, a pause in milliseconds, or one of three words: `cut` and `reset` end the
 * connection without the end of the body (FIN, RST), `hang` sends nothing more and leaves the socket open.
 */
export type ResponseStep = string | { readonly pauseMs: number };

/** An answer for one request. `body` stands for one chunk; without `cut`, `reset` or `hang` the body ends orderly. */
export interface PlannedResponse {
  /** Default 200. */
  readonly status?: number;
  /** `content-type` defaults to text/event-stream with `chunks`, application/json with `body`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly chunks?: readonly ResponseStep[];
  /** Bytes a write, for this answer alone. */
  readonly pieces?: number;
  /** Milliseconds before the status line; default 0. */
  readonly headPauseMs?: number;
}

/**
 * Writes a planned answer.
 * @param pieces bytes a write; undefined: each chunk at once
 * @param onCut told before this side breaks the connection
 */
export async function writeResponse(
  response: ServerResponse,
  { status = 200, headers = {}, body, chunks, pieces: own, headPauseMs = 0 }: PlannedResponse,
  pieces: number | undefined,
  onCut: () => void,
): Promise<void> {
  const type = chunks ? 'text/event-stream' : 'application/json';
  if (headPauseMs > 0) await sleep(headPauseMs, undefined, { ref: false });
  response.writeHead(status, { 'content-type': type, ...headers });
  response.flushHeaders();
  for (const step of chunks ?? [body ?? '']) {
    if (response.destroyed) return;
    if (step === 'hang') return;
    if (step === 'cut' || step === 'reset') {
      // What was written before must leave first.
      await sleep(20);
      onCut();
      if (step === 'cut') response.socket?.destroy();
      else response.socket?.resetAndDestroy();
      return;
    }
    if (typeof step === 'string') await writeBytes(response, Buffer.from(step), own ?? pieces);
    else await sleep(step.pauseMs, undefined, { ref: false });
  }
  response.end();
}

async function writeBytes(response: ServerResponse, bytes: Buffer, pieces: number | undefined): Promise<void> {
  const size = pieces ?? bytes.length;
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    response.write(bytes.subarray(at, at + size));
    if (pieces !== undefined) await nextTick();
  }
}
