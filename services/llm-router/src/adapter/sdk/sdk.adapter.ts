import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Usage } from '@jetloop/contracts';
import { answersToolRound } from '../../history/answers-tool-round.js';
import { calledNames, ToolNames } from '../../history/tool-names.js';
import type { Adapter, ModelRequest } from '../adapter.js';
import { finishPart } from '../finish.js';
import { apiKey, type Environment } from '../http/api-key.js';
import { AttemptFailure } from '../http/attempt-failure.js';
import { attemptShell } from '../http/attempt-shell.js';
import { llmError, providerError } from '../http/provider-error.js';
import { requestFacts } from '../http/request-facts.js';
import type { Upstream } from '../http/upstream.js';
import { isContent, type Part } from '../part.js';
import { Exchange } from './exchange.js';
import type { FrameReader, SdkDialect } from './sdk-dialect.js';
import { sdkOptions } from './sdk-options.js';
import { SdkParts } from './sdk-parts.js';

const CHARACTERS_A_TOKEN = 4;

export interface SdkAdapterOptions {
  /** Where `apiKeyEnv` of a target is looked up, at each call. */
  readonly env?: Environment;
}

/**
 * A provider behind its `@ai-sdk` package, which writes the request and takes the frames apart. Bytes, time, abort, errors,
 * usage, the end of an answer and the assembly of calls are ours.
 */
export class SdkAdapter implements Adapter {
  private readonly env: Environment;

  constructor(
    private readonly dialect: SdkDialect,
    { env = {} }: SdkAdapterOptions = {},
  ) {
    this.env = env;
  }

  attempt(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
    return attemptShell(request, signal, (upstream) => this.parts(request, upstream));
  }

  private async *parts(request: ModelRequest, upstream: Upstream): AsyncGenerator<Part> {
    const { dialect } = this;
    const { target, tools, messages } = request;
    const key = apiKey(this.env, target.apiKeyEnv);
    const names = new ToolNames([...tools.map(({ name }) => name), ...calledNames(messages)]);
    const reader = dialect.reader((body) => providerError({ headers: {}, body }, exchange.facts, Date.now()));
    const exchange = new Exchange({
      upstream,
      dialect,
      reader,
      stream: target.stream,
      hasKey: key !== undefined,
      facts: (bodyLength) => requestFacts(request, bodyLength, key),
    });
    const parts = new SdkParts(dialect.name);
    const { baseUrl, model } = target;
    let characters = 0;
    let failure: AttemptFailure | undefined;
    try {
      const asked = dialect.model({ baseUrl, model, key, fetch: exchange.fetch });
      const { stream } = await asked.doStream(sdkOptions(request, names, dialect));
      for await (const piece of piecesOf(stream)) {
        for (const part of parts.of(piece)) {
          if (isContent(part)) characters += lengthOf(part);
          yield part.kind === 'call' && part.name !== undefined ? { ...part, name: names.fromWire(part.name) } : part;
        }
      }
    } catch (error) {
      failure = error instanceof AttemptFailure ? error : flaw(error);
    }
    // What broke on the wire is the cause of whatever the SDK then said.
    failure = exchange.failure ?? failure;
    if (reader.served !== undefined) yield { kind: 'model', served: reader.served };
    const usage = countOf(reader, characters, failure);
    if (usage) yield { kind: 'usage', usage };
    if (failure) throw failure;
    if (reader.isFinished) parts.end();
    yield finishPart({
      reasons: reader.reasons,
      calls: parts.hasCalls,
      refused: reader.refused,
      said: characters > 0 || parts.hasCalls,
      mayBeEmpty: answersToolRound(messages),
    });
  }
}

async function* piecesOf(stream: ReadableStream<LanguageModelV4StreamPart>): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.cancel().catch(() => undefined); // the upstream is closed by its owner, whatever becomes of this
  }
}

/** An SDK's error carries the whole request: only its name goes on. */
function flaw(error: unknown): AttemptFailure {
  const name = error instanceof Error ? error.name : typeof error;
  return new AttemptFailure(llmError('protocol', `the SDK could not read the answer (${name})`));
}

/** What was counted; of a broken answer, at least what was seen of it. */
function countOf(reader: FrameReader, characters: number, failure: AttemptFailure | undefined): Usage | undefined {
  const { usage } = reader;
  if (!usage || (reader.isFinished && !failure)) return usage;
  const output = Math.max(usage.output, Math.ceil(characters / CHARACTERS_A_TOKEN));
  return { ...usage, output, estimated: failure?.error.code === 'aborted' ? 'aborted' : 'missing' };
}

function lengthOf(part: Part): number {
  if (part.kind === 'text' || part.kind === 'reasoning') return part.text.length;
  return part.kind === 'call' ? part.arguments.length + (part.name?.length ?? 0) : 0;
}
