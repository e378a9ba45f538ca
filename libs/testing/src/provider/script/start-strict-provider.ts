import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { strictProblem } from '../strict/strict-problem.js';
import { orderProblem } from './order-problem.js';
import type { ModelScript, ScriptedAnswer, SeenRequest } from './scripted-answer.js';
import { sendError, streamAnswer } from './stream-answer.js';

/** A model provider on 127.0.0.1 that answers by scripts and takes only what a real one would take. */
export interface StrictProvider {
  /** Base URL of the chat dialect. */
  readonly url: string;
  /** Sets what a model answers from now on, counted from its first request on. */
  script(model: string, script: ModelScript): void;
  /** What was asked of a model, in the order of arrival. */
  requests(model: string): readonly SeenRequest[];
  /** @throws Error when it was sent what a real provider would refuse: whoever sent that is to be mended, even if its turn ended well */
  stop(): Promise<void>;
}

const wireMessage = z.object({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z
    .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
    .optional(),
  tool_call_id: z.string().optional(),
});
const body = z.object({
  model: z.string(),
  stream: z.literal(true, 'expected a request for a stream'),
  messages: z.array(wireMessage).min(1),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).optional(),
});

/**
 * Starts a provider of the chat dialect. What a real one refuses (results without their call, twice or out of order, calls
 * without results, empty texts) is answered with 400, and so is a request for which the script has no answer.
 * @example
 * const provider = await startStrictProvider();
 * provider.script('helper', [{ calls: [{ name: 'list_dir' }] }, { text: 'done' }]);
 */
export async function startStrictProvider(): Promise<StrictProvider> {
  const scripts = new Map<string, ModelScript>();
  const seen = new Map<string, SeenRequest[]>();
  const requestsOf = (model: string): SeenRequest[] => {
    const known = seen.get(model) ?? [];
    seen.set(model, known);
    return known;
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent: unknown = JSON.parse(await textOf(request));
    const parsed = body.safeParse(sent);
    if (!parsed.success) {
      sendError(response, 400, z.prettifyError(parsed.error), 'invalid_request_error');
      return;
    }
    const { model, messages, tools = [] } = parsed.data;
    const requests = requestsOf(model);
    const n = requests.length + 1;
    const seenNow: SeenRequest = {
      model,
      messages,
      tools: tools.map((tool) => tool.function.name),
      problem: strictProblem('chat', sent) ?? orderProblem(messages),
      aborted: new Promise((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve();
        });
      }),
    };
    requests.push(seenNow);
    const answer = seenNow.problem === undefined ? answerOf(scripts.get(model), seenNow, n) : undefined;
    if (answer) await streamAnswer(response, answer, { model, n });
    else {
      const why = seenNow.problem ?? `the script of ${model} has no answer for request ${n}`;
      sendError(response, 400, why, 'invalid_request_error');
    }
  }

  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.on('connection', (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected the server to listen on a port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    script: (model, script) => void scripts.set(model, script),
    requests: requestsOf,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      const refused = [...seen.values()]
        .flat()
        .flatMap(({ model, problem }) => (problem === undefined ? [] : [`${model}: ${problem}`]));
      if (refused.length > 0)
        throw new Error(`The provider refused ${refused.length} requests:\n${refused.join('\n')}`);
    },
  };
}

function answerOf(script: ModelScript | undefined, request: SeenRequest, n: number): ScriptedAnswer | undefined {
  return typeof script === 'function' ? script(request, n) : script?.[n - 1];
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += String(piece);
  return text;
}
