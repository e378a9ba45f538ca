import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import { Assembler, type Assembled } from '../adapter/assemble.js';
import { isContent, type Part } from '../adapter/part.js';
import type { Catalogue, Target } from '../catalogue/catalogue.js';
import { costOf } from './cost.js';
import { gate } from './gate.js';
import { isRetriedWithinTarget, retryDelay } from './retry-delay.js';

/** Told what happens while it happens, for live subscribers. */
export interface RouteListener {
  part(attemptId: string, part: Part): void;
  /** The attempt was superseded after it had said something. */
  reset(attemptId: string): void;
  end(attemptId: string): void;
}

export interface RouteOptions {
  readonly catalogue: Catalogue;
  readonly adapters: Readonly<Record<Target['dialect'], Adapter>>;
  /** Names of targets in the order in which they are tried. */
  readonly order: readonly string[];
  /** The first of the chain: what an attempt at it is called. */
  readonly primary: string | undefined;
  readonly fallback: boolean;
  readonly thinking: boolean;
  readonly request: Omit<ModelRequest, 'target'>;
  /** `<command id>.<delivery>` */
  readonly attemptPrefix: string;
  readonly signal: AbortSignal;
  readonly listener: RouteListener;
  readonly now: () => number;
  readonly random: () => number;
  /** Resolves after the wait, or at once when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export type Routed =
  | { readonly ok: true; readonly answer: Assembled; readonly attempts: readonly Attempt[] }
  | {
      readonly ok: false;
      readonly error: LlmError;
      readonly partial?: Assembled;
      readonly attempts: readonly Attempt[];
    };

interface Tried {
  readonly answer: Assembled;
  readonly attempt: Attempt;
}

/**
 * Tries the targets in order until one answers (spec 4.3): a gate before any I/O, retries within a target for what may
 * pass, a fallback on every error but an abort. The last error in order is the one that is reported.
 */
export async function route(options: RouteOptions): Promise<Routed> {
  const attempts: Attempt[] = [];
  let last: { error: LlmError; partial?: Assembled } = { error: noTargets(options.order) };
  const names = options.fallback ? options.order : options.order.slice(0, 1);
  for (const [position, name] of names.entries()) {
    const target = options.catalogue.get(name);
    const refused = target ? gate(target, options.request.messages, options.thinking) : unknownTarget(name);
    if (!target || refused) {
      last = { error: refused ?? unknownTarget(name) };
      attempts.push(skipped(options, attempts.length, name, whyOf(options, name, position), last.error));
      continue;
    }
    const { tried, error } = await tryTarget(options, target, whyOf(options, name, position), attempts);
    if (!error) return { ok: true, answer: tried.answer, attempts };
    last = { error, partial: tried.answer };
    if (error.code === 'aborted') break;
  }
  return {
    ok: false,
    error: last.error,
    attempts,
    ...(last.error.code === 'aborted' && last.partial ? { partial: last.partial } : {}),
  };
}

async function tryTarget(
  options: RouteOptions,
  target: Target,
  why: Attempt['why'],
  attempts: Attempt[],
): Promise<{ tried: Tried; error?: LlmError }> {
  const deadline = options.now() + target.requestTimeout;
  for (let tries = 0; ; tries++) {
    const tried = await attemptOnce(options, target, tries === 0 ? why : 'retry', attempts.length);
    attempts.push(tried.attempt);
    const { error } = tried.attempt;
    if (!error) return { tried };
    const mayRetry = tries < target.retryCount && isRetriedWithinTarget(error) && !options.signal.aborted;
    const delay = mayRetry ? retryDelay(error, target, tries, deadline - options.now(), options.random) : undefined;
    if (delay === undefined) return { tried, error };
    await options.wait(delay, options.signal);
  }
}

async function attemptOnce(options: RouteOptions, target: Target, why: Attempt['why'], n: number): Promise<Tried> {
  const attemptId = `${options.attemptPrefix}.${n}`;
  const started = options.now();
  const assembler = new Assembler(target);
  let firstTokenMs: number | undefined;
  let last: Part | undefined;
  for await (const part of options.adapters[target.dialect].attempt({ ...options.request, target }, options.signal)) {
    if (isContent(part)) firstTokenMs ??= options.now() - started;
    assembler.add(part);
    options.listener.part(attemptId, part);
    last = part;
  }
  if (last?.kind !== 'finish' && last?.kind !== 'error') {
    assembler.add({
      kind: 'error',
      error: { code: 'incomplete_stream', message: 'the answer ended without an end', retryable: true },
    });
  }
  const answer = assembler.result();
  const error = answer.end && 'error' in answer.end ? { ...answer.end.error, target: target.name } : undefined;
  if (error && error.code !== 'aborted' && firstTokenMs !== undefined) options.listener.reset(attemptId);
  if (!error) options.listener.end(attemptId);
  const attempt: Attempt = {
    attemptId,
    target: target.name,
    why,
    outcome: error ? (error.code === 'aborted' ? 'aborted' : 'error') : 'ok',
    ...(error ? { error } : {}),
    ...(answer.usage ? { usage: answer.usage, cost: costOf(answer.usage, target.prices) } : {}),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    durationMs: options.now() - started,
  };
  return { answer, attempt };
}

function whyOf({ primary, order: [first] }: RouteOptions, name: string, position: number): Attempt['why'] {
  if (position > 0) return 'fallback';
  return name === primary || first === undefined ? 'primary' : 'sticky';
}

function skipped(options: RouteOptions, n: number, target: string, why: Attempt['why'], error: LlmError): Attempt {
  return { attemptId: `${options.attemptPrefix}.${n}`, target, why, outcome: 'skipped', error, durationMs: 0 };
}

function unknownTarget(name: string): LlmError {
  return {
    code: 'no_targets',
    message: `there is no model target named ${name}: add it to models.yaml, or correct model.chain`,
    retryable: false,
    target: name,
  };
}

function noTargets(order: readonly string[]): LlmError {
  return {
    code: 'no_targets',
    message: order.length === 0 ? 'the chain of the agent is empty' : 'no target answered',
    retryable: false,
  };
}
