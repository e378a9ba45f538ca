import type { Adapter, ModelRequest } from '../adapter.js';
import { apiKey, type Environment } from '../http/api-key.js';
import { AttemptFailure } from '../http/attempt-failure.js';
import { attemptShell } from '../http/attempt-shell.js';
import { EventReader, type ServerEvent } from '../http/event-reader.js';
import { jsonOrText } from '../http/json-or-text.js';
import { nextBytes } from '../http/next-bytes.js';
import { llmError, providerError, type RequestFacts } from '../http/provider-error.js';
import { requestFacts } from '../http/request-facts.js';
import type { Upstream, UpstreamRequest } from '../http/upstream.js';
import type { Part } from '../part.js';
import { calledNames, ToolNames } from '../../history/tool-names.js';
import { answersToolRound } from '../../history/answers-tool-round.js';
import { ChatAccumulator } from './chat-accumulator.js';
import { chatBody } from './chat-request.js';

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
const MAX_ERROR_BODY = 64 * 1024;

export interface ChatAdapterOptions {
  /** Where `apiKeyEnv` of a target is looked up, at each call. */
  readonly env?: Environment;
}

/** The dialect of OpenAI's chat completions and of all that speak it. */
export class ChatAdapter implements Adapter {
  private readonly env: Environment;

  constructor({ env = {} }: ChatAdapterOptions = {}) {
    this.env = env;
  }

  attempt(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
    return attemptShell(request, signal, (upstream) => this.parts(request, upstream));
  }

  private async *parts(request: ModelRequest, upstream: Upstream): AsyncGenerator<Part> {
    const { target, tools, messages } = request;
    const key = apiKey(this.env, target.apiKeyEnv);
    const names = new ToolNames([...tools.map(({ name }) => name), ...calledNames(messages)]);
    const body = JSON.stringify(chatBody(request, names));
    const facts = () => requestFacts(request, body.length, key);
    const head = await upstream.open(upstreamRequest(target.baseUrl, key, body));
    if (head.status < 200 || head.status >= 300) {
      const answer = { ...head, body: jsonOrText(await upstream.readAll(MAX_ERROR_BODY)) };
      throw new AttemptFailure(providerError(answer, facts(), Date.now()));
    }
    yield { kind: 'lifecycle' };
    const accumulator = new ChatAccumulator({
      providerError: (error) => providerError({ headers: head.headers, body: error }, facts(), Date.now()),
      mayBeEmpty: answersToolRound(messages),
    });
    for await (const part of answer(upstream, accumulator, facts)) {
      yield part.kind === 'call' && part.name !== undefined ? { ...part, name: names.fromWire(part.name) } : part;
    }
  }
}

async function* answer(
  upstream: Upstream,
  accumulator: ChatAccumulator,
  facts: () => RequestFacts,
): AsyncGenerator<Part> {
  const reader = new EventReader();
  for (;;) {
    const bytes = await nextBytes(upstream, accumulator);
    for (const event of bytes ? reader.feed(bytes) : reader.end()) {
      if (event.data.trim() === '[DONE]') {
        yield accumulator.end();
        return;
      }
      yield* accumulator.frame(payloadOf(event, facts));
    }
    if (!bytes) break;
  }
  const whole = reader.whole();
  if (whole !== undefined) yield* accumulator.frame(wholeBody(whole));
  yield accumulator.end();
}

function payloadOf({ event, data }: ServerEvent, facts: () => RequestFacts): unknown {
  const value = jsonOrText(data);
  if (event === 'error') throw new AttemptFailure(providerError({ headers: {}, body: value }, facts(), Date.now()));
  if (typeof value !== 'object')
    throw new AttemptFailure(llmError('protocol', 'an event of the stream is not a JSON object'));
  return value;
}

function wholeBody(text: string): unknown {
  const value = jsonOrText(text);
  if (typeof value === 'string')
    throw new AttemptFailure(llmError('protocol', 'the body is neither JSON nor a stream of events'));
  const isCompletion =
    typeof value === 'object' &&
    value !== null &&
    'choices' in value &&
    Array.isArray(value.choices) &&
    value.choices.length > 0;
  const isError =
    typeof value === 'object' && value !== null && ('error' in value || 'message' in value || 'detail' in value);
  if (!isCompletion && !isError && !Array.isArray(value))
    throw new AttemptFailure(llmError('protocol', 'the body is no chat completion'));
  return value;
}

function upstreamRequest(baseUrl: string | undefined, key: string | undefined, body: string): UpstreamRequest {
  const url = new URL(baseUrl ?? DEFAULT_BASE_URL);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return { url: url.href, headers: { 'content-type': 'application/json', ...authorization }, body };
}
