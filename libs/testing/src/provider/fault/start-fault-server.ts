import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestParser, type RawRequest } from './request-parser.js';

/**
 * A step of an answer: bytes as they go over the socket, status line included; a pause in milliseconds; or the end of the
 * connection: `fin` in order, `reset` by RST, `hang` not at all.
 */
export type FaultStep = string | Uint8Array | { readonly pauseMs: number } | { readonly end: 'fin' | 'reset' | 'hang' };

export interface RecordedRequest extends RawRequest {
  /** Which connection it came on, from 0. */
  readonly connection: number;
}

/** A socket that is closed. */
export interface SocketClose {
  readonly connection: number;
  /** Who ended it first. */
  readonly by: 'client' | 'server';
  /** Milliseconds since the last request on it; undefined: there was none. */
  readonly afterMs: number | undefined;
}

/** A provider on 127.0.0.1 that answers with raw bytes. */
export interface FaultServer {
  /** Ends without a slash. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  readonly closes: readonly SocketClose[];
  /** Answers for the next requests; without one the connection hangs. After its steps a connection stays open. */
  plan(...answers: readonly (readonly FaultStep[])[]): void;
  /** Resolves with the close of a connection. @throws when it does not come within `milliseconds` */
  closeOf(connection: number, milliseconds: number): Promise<SocketClose>;
  stop(): Promise<void>;
}

/**
 * Serves faults that no HTTP library would write: cuts in the middle of a head, a wrong length, resets, silence.
 * @example
 * const faults = await startFaultServer();
 * faults.plan([STREAM_HEAD, rawChunk('data: {"half'), { end: 'reset' }]);
 */
export async function startFaultServer(): Promise<FaultServer> {
  const requests: RecordedRequest[] = [];
  const closes: SocketClose[] = [];
  const plans: (readonly FaultStep[])[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    const connection = connections++;
    const parser = new RequestParser();
    let by: SocketClose['by'] = 'client';
    let askedAt: number | undefined;
    sockets.add(socket);
    socket.on('error', () => undefined); // a reset by the client: told by its close
    socket.on('close', () => {
      sockets.delete(socket);
      closes.push({ connection, by, afterMs: askedAt === undefined ? undefined : performance.now() - askedAt });
    });
    socket.on('data', (bytes) => {
      for (const request of parser.feed(bytes)) {
        askedAt = performance.now();
        requests.push({ ...request, connection });
        void play(socket, plans.shift() ?? [], () => {
          by = 'server';
        });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected the server to listen on a port');

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    closes,
    plan: (...answers) => void plans.push(...answers),
    async closeOf(connection, milliseconds) {
      const deadline = performance.now() + milliseconds;
      for (;;) {
        const found = closes.find((close) => close.connection === connection);
        if (found) return found;
        if (performance.now() > deadline) throw new Error(`expected connection ${connection} to close`);
        await sleep(5);
      }
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** @param onEnd told before this side ends the connection */
async function play(socket: Socket, steps: readonly FaultStep[], onEnd: () => void): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (typeof step === 'object' && 'end' in step) {
      if (step.end === 'hang') return;
      await sleep(10); // what was written before must leave first
      onEnd();
      if (step.end === 'fin') socket.end();
      else socket.resetAndDestroy();
      return;
    }
    if (typeof step === 'object' && 'pauseMs' in step) await sleep(step.pauseMs, undefined, { ref: false });
    else socket.write(step);
  }
}
