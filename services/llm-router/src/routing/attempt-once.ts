import type { Attempt, FinishReason, LlmError, Usage } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import { Assembler, type Assembled } from '../adapter/assemble.js';
import { isContent, type Part } from '../adapter/part.js';
import { costOf } from './cost.js';
import { estimateAnswer } from './estimate-tokens.js';
import type { JobFacts } from './job-facts.js';
import { objectAnswer, type FindMisfit } from './object-answer.js';
import { verdictOf, type Verdict } from './verdict.js';

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
  readonly facts: JobFacts;
  readonly attemptId: string;
  readonly why: Attempt['why'];
  /** Set where an object was asked for. */
  readonly findMisfit?: FindMisfit | undefined;
  readonly signal: AbortSignal;
  readonly listener: RouteListener;
  /** Told once, when the provider accepts the request (a 2xx). */
  readonly answered?: () => void;
  readonly now: () => number;
}

/** One try at one target: how it is reported, what the provider said, and whether that is an answer. */
export type Tried = { readonly attempt: Attempt; readonly said: Assembled } & (
  | { readonly ok: true; readonly finish: FinishReason; readonly usage: Usage }
  | { readonly ok: false; readonly error: LlmError; readonly isRepairable?: boolean }
);

/** Makes one request and never throws: whatever goes wrong is the attempt's error. */
export async function attemptOnce(input: AttemptInput): Promise<Tried> {
  const { request, facts, attemptId, why, listener, now } = input;
  const { target } = request;
  const started = now();
  const assembler = new Assembler(target);
  let firstTokenMs: number | undefined;
  let isAnswered = false;
  for await (const part of partsOf(input)) {
    if (!isAnswered && isAnswer(part)) {
      isAnswered = true;
      input.answered?.();
    }
    if (isContent(part)) firstTokenMs ??= now() - started;
    assembler.add(part);
    listener.part(attemptId, part);
  }
  const { said, verdict } = judge(assembler.result(), input);
  const error: LlmError | undefined = 'error' in verdict ? { ...verdict.error, target: target.name } : undefined;
  const isCommitted = firstTokenMs !== undefined;
  if (!error || (error.code === 'aborted' && isCommitted)) listener.end(attemptId);
  else if (isCommitted) listener.reset(attemptId);
  const counted = said.usage ? completed(said.usage, said, facts) : estimate(said, facts, error);
  // An attempt that failed before it said anything used nothing that anybody knows of.
  const usage = said.usage || !error || isCommitted || error.code === 'aborted' ? counted : undefined;
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
  if ('finish' in verdict) return { attempt, said, ok: true, finish: verdict.finish, usage: counted };
  const isRepairable = said.end !== undefined && 'error' in said.end && said.end.aboutReasoningState === true;
  return { attempt, said, ok: false, error: error ?? verdict.error, isRepairable };
}

function judge(said: Assembled, { facts, findMisfit }: AttemptInput): { said: Assembled; verdict: Verdict } {
  const verdict = verdictOf(said, facts.afterToolRound);
  return findMisfit && 'finish' in verdict ? objectAnswer(said, verdict.finish, findMisfit) : { said, verdict };
}

/** Whether a part shows that the provider accepted the request: an error and what an adapter counts do not. */
function isAnswer({ kind }: Part): boolean {
  return kind !== 'error' && kind !== 'usage' && kind !== 'model';
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

/** Of a count that lacks something, what is lacking is estimated: an answer that was heard did not cost nothing. */
function completed(usage: Usage, { content }: Assembled, { tokens }: JobFacts): Usage {
  if (!usage.estimated) return usage;
  const hasPrompt = usage.input + usage.cacheRead + usage.cacheWrite > 0;
  const input = hasPrompt ? usage.input : Math.max(1, tokens);
  return { ...usage, input, output: Math.max(usage.output, estimateAnswer(content)) };
}

/** What was not counted is estimated and says so. */
function estimate({ content }: Assembled, { tokens }: JobFacts, error: LlmError | undefined): Usage {
  const estimated = error?.code === 'aborted' ? 'aborted' : 'missing';
  return { input: Math.max(1, tokens), cacheRead: 0, cacheWrite: 0, output: estimateAnswer(content), estimated };
}
