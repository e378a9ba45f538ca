import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { writeResponse, type PlannedResponse } from './planned-response.js';
import { dialectOf, replayFixture, type Framing } from './replay-fixture.js';
import { strictProblem } from './strict/strict-problem.js';

export interface ReplayOptions extends Framing {
  /** Where the fixtures lie: `<name>.chunks.txt` for streams, `<name>.json` for whole bodies. */
  readonly folder: string;
  /** Bytes a write; default: an event at once. */
  readonly pieces?: number;
  /** Answer 400 to what a strict provider of the dialect would refuse: see `strict/`. */
  readonly strict?: boolean;
  /** Decides what a request gets for which nothing is planned; undefined: the fixture that its model names. */
  readonly answer?: (request: ReplayedRequest) => PlannedResponse | undefined;
}

/** A request as the provider saw it. */
export interface ReplayedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. */
  readonly body: unknown;
  /** When it had come, milliseconds since the epoch. */
  readonly at: number;
}

/** A model provider on 127.0.0.1 that answers with recordings and with planned faults. */
export interface ReplayServer {
  /** Ends without a slash; a base URL for every dialect. */
  readonly url: string;
  /** In the order of arrival. */
  readonly requests: readonly ReplayedRequest[];
  /** Sockets that the client closed before the end of the answer. */
  readonly closed: number;
  /** Connections that were ever opened. */
  readonly connections: number;
  /** Fixtures for the next requests; without one the request's `model` names it. */
  enqueue(...names: string[]): void;
  /** Planned answers for the next requests, in one queue with `enqueue`. */
  respond(...responses: PlannedResponse[]): void;
  stop(): Promise<void>;
}

const asked = z.looseObject({ model: z.string().optional(), stream: z.boolean().optional() });

/**
 * Serves recorded answers over real HTTP as their provider would.
 * @example
 * const provider = await startReplayServer({ folder: 'test/fixtures/providers' });
 * provider.enqueue('chat-text');
 */
export async function startReplayServer(options: ReplayOptions): Promise<ReplayServer> {
  const requests: ReplayedRequest[] = [];
  const queue: (string | PlannedResponse)[] = [];
  // Answers that were planned to break: then it was not the client.
  const ownCuts = new WeakSet<ServerResponse>();
  const counts = { closed: 0, connections: 0 };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const body: unknown = JSON.parse(await textOf(request));
    const seen = { path, headers: request.headers, body, at: Date.now() };
    requests.push(seen);
    const problem = options.strict === true ? strictProblem(dialectOf(path), body) : undefined;
    const planned = problem === undefined ? await next(seen) : refusal(400, 'invalid_request_error', problem);
    await writeResponse(response, planned, options.pieces, () => {
      ownCuts.add(response);
    });
  }

  async function next(request: ReplayedRequest): Promise<PlannedResponse> {
    const { path, body } = request;
    const { model, stream = false } = asked.parse(body);
    const name =
      queue.shift() ?? options.answer?.(request) ?? model ?? /models\/([^:/]+)/.exec(path)?.[1] ?? '(no model)';
    if (typeof name !== 'string') return name;
    const dialect = dialectOf(path);
    const whole = dialect === 'google' ? !path.includes(':stream') : !stream;
    try {
      return await replayFixture(options.folder, name, { ...options, dialect, whole });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return refusal(404, 'model_not_found', `there is no fixture for ${name}: ${why}`);
    }
  }

  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished && !ownCuts.has(response)) counts.closed++;
    });
    void answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.on('connection', (socket) => {
    counts.connections++;
    socket.setNoDelay(true);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected the server to listen on a port');

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    get closed() {
      return counts.closed;
    },
    get connections() {
      return counts.connections;
    },
    enqueue: (...names) => void queue.push(...names),
    respond: (...responses) => void queue.push(...responses),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function refusal(status: number, type: string, message: string): PlannedResponse {
  return { status, body: JSON.stringify({ error: { message, type, code: type } }) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += String(piece);
  return text;
}
