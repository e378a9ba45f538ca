import type { Attempt, FinishReason, LlmError, Usage } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import { Assembler, type Assembled } from '../adapter/assemble.js';
import { isContent, type Part } from '../adapter/part.js';
import { costOf } from './cost.js';
import { estimateAnswer } from './estimate-tokens.js';
import type { RequestFacts } from './request-facts.js';
import { verdictOf } from './verdict.js';

/** Told what happens while it happens, for live subscribers. */
export interface RouteListener {
  part(attemptId: string, part: Part): void;
  /** The attempt failed after it had said something: what it said is void. */
  reset(attemptId: string): void;
  /** Nothing more comes, and what was said stands. */
  end(attemptId: string): void;
}

export interface AttemptInput {
  readonly adapter: Adapter;
  readonly request: ModelRequest;
  readonly facts: RequestFacts;
  readonly attemptId: string;
  readonly why: Attempt['why'];
  readonly signal: AbortSignal;
  readonly listener: RouteListener;
  readonly now: () => number;
}

/** One try at one target, and what it came to. */
export interface Tried {
  readonly answer: Assembled;
  readonly finish: FinishReason | undefined;
  readonly attempt: Attempt;
}

/** Makes one request and never throws: whatever goes wrong is the attempt's error. */
export async function attemptOnce(input: AttemptInput): Promise<Tried> {
  const { request, facts, attemptId, why, listener, now } = input;
  const { target } = request;
  const started = now();
  const assembler = new Assembler(target);
  let firstTokenMs: number | undefined;
  for await (const part of partsOf(input)) {
    if (isContent(part)) firstTokenMs ??= now() - started;
    assembler.add(part);
    listener.part(attemptId, part);
  }
  const answer = assembler.result();
  const verdict = verdictOf(answer, facts.afterToolRound);
  const error: LlmError | undefined = 'error' in verdict ? { ...verdict.error, target: target.name } : undefined;
  const isCommitted = firstTokenMs !== undefined;
  if (!error || (error.code === 'aborted' && isCommitted)) listener.end(attemptId);
  else if (isCommitted) listener.reset(attemptId);
  const usage = usageOf(answer, facts, error, isCommitted);
  const attempt: Attempt = {
    attemptId,
    target: target.name,
    why,
    outcome: error ? (error.code === 'aborted' ? 'aborted' : 'error') : 'ok',
    ...(error ? { error } : {}),
    ...(usage ? { usage, cost: costOf(usage, target.prices) } : {}),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    durationMs: now() - started,
  };
  return { answer, finish: 'finish' in verdict ? verdict.finish : undefined, attempt };
}

/** The adapter's parts up to the first end. An adapter that throws has a flaw; its words may hold the request. */
async function* partsOf({ adapter, request, signal }: AttemptInput): AsyncGenerator<Part> {
  try {
    for await (const part of adapter.attempt(request, signal)) {
      yield part;
      if (part.kind === 'finish' || part.kind === 'error') return;
    }
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    const message = `the ${request.target.dialect} adapter failed (${name})`;
    yield { kind: 'error', error: { code: 'protocol', message, retryable: false } };
  }
}

/** What was not counted is estimated and says so; an attempt that came to nothing used nothing. */
function usageOf(
  { usage, content }: Assembled,
  { tokens }: RequestFacts,
  error: LlmError | undefined,
  isCommitted: boolean,
): Usage | undefined {
  if (usage) return usage;
  const isAborted = error?.code === 'aborted';
  if (error && !isAborted && !isCommitted) return undefined;
  const estimated = isAborted ? 'aborted' : 'missing';
  return { input: tokens, cacheRead: 0, cacheWrite: 0, output: estimateAnswer(content), estimated };
}
