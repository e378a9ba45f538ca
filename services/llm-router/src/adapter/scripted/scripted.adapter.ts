import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf, type DerivedMessage, type LlmError } from '@jetloop/contracts';
import type { ScriptRule } from '../../catalogue/catalogue.js';
import type { Adapter, ModelRequest } from '../adapter.js';
import { answersToolRound } from '../../history/answers-tool-round.js';
import { finishPart } from '../finish.js';
import { AttemptFailure } from '../http/attempt-failure.js';
import { codeOf } from '../http/error-code.js';
import { llmError } from '../http/provider-error.js';
import type { Part } from '../part.js';

const PIECE = 24;
const USAGE = { input: 10, cacheRead: 0, cacheWrite: 0, output: 5 };
const ABORTED = llmError('aborted', 'the call was aborted');
/** How a provider writes a finish reason. */
const RAW = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  'max-tokens': 'length',
  'content-filter': 'content_filter',
} as const;

/**
 * A model that answers by rules: the first that matches the request. A function of the request alone, so that replicas
 * agree. For demos, tests and benchmarks.
 */
export class ScriptedAdapter implements Adapter {
  async *attempt(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
    if (signal.aborted) {
      yield { kind: 'error', error: ABORTED };
      return;
    }
    const unwritten = await written(request);
    if (unwritten) {
      yield { kind: 'error', error: unwritten };
      return;
    }
    const rule = (request.target.script ?? []).find(({ match }) => matches(match, request));
    if (!rule) {
      const message = `the script of target ${request.target.name} has no rule for step ${request.step} of this turn`;
      yield { kind: 'error', error: { code: 'bad_request', message, retryable: false } };
      return;
    }
    try {
      if (rule.delayMs > 0) await sleep(rule.delayMs, undefined, { signal });
      yield* answer(rule, request, signal);
    } catch (error) {
      // Else the only thing that is thrown is the abort.
      yield { kind: 'error', error: error instanceof AttemptFailure ? error.error : ABORTED };
    }
  }
}

/** Adds the request to the target's journal; what went wrong, if anything did. */
async function written({ target, step, systemPrompt, messages, tools, output }: ModelRequest) {
  if (target.journal === undefined) return undefined;
  const entry = { target: target.name, step, systemPrompt, messages, tools: tools.map(({ name }) => name), output };
  try {
    await appendFile(target.journal, `${JSON.stringify(entry)}\n`);
    return undefined;
  } catch (error) {
    return llmError('server_error', `the journal of target ${target.name} could not be written (${codeOf(error)})`);
  }
}

async function* answer(rule: ScriptRule, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
  const { reply, error, usage = error ? undefined : USAGE } = rule;
  const { text = '', reasoning = '', toolCalls = [], finishReason } = reply ?? {};
  if (reasoning !== '') yield { kind: 'reasoning', text: reasoning };
  for (const piece of pieces(text, rule.pieceDelayMs)) {
    if (rule.pieceDelayMs > 0) await sleep(rule.pieceDelayMs, undefined, { signal });
    yield { kind: 'text', text: piece };
  }
  signal.throwIfAborted();
  for (const [call, { name, id, arguments: value }] of toolCalls.entries()) {
    const raw = typeof value === 'string' ? value : JSON.stringify(value);
    yield { kind: 'call', call, id: id ?? `call_${request.step}_${call}`, name, arguments: raw };
  }
  if (usage) yield { kind: 'usage', usage };
  if (error) throw new AttemptFailure(scriptedError(error));
  yield finishPart({
    reasons: [RAW[finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop')]],
    calls: toolCalls.length > 0,
    refused: false,
    said: text !== '' || reasoning !== '' || toolCalls.length > 0,
    mayBeEmpty: answersToolRound(request.messages),
  });
}

/** `hasToolResult` and `resultContains` look only behind the last user message; context and steering are none. */
function matches(match: ScriptRule['match'], { step, messages }: ModelRequest): boolean {
  const { contains, hasToolResult, resultContains } = match;
  if (match.step !== undefined && match.step !== step) return false;
  const lastUser = messages.findLastIndex((message) => message.role === 'user' && !isAside(message));
  if (contains !== undefined && !textOf(messages[lastUser]?.content ?? []).includes(contains)) return false;
  const results = messages.slice(lastUser + 1).filter((message) => message.role === 'tool');
  if (hasToolResult !== undefined && hasToolResult !== results.length > 0) return false;
  return resultContains === undefined || textOf(results.at(-1)?.content ?? []).includes(resultContains);
}

function isAside({ content: [first] }: DerivedMessage): boolean {
  return first?.type === 'text' && /^<(context|steering) source="/.test(first.text);
}

function pieces(text: string, delayMs: number): string[] {
  if (text === '') return [];
  return delayMs > 0 ? (text.match(new RegExp(`[^]{1,${PIECE}}`, 'gu')) ?? []) : [text];
}

function scriptedError({ code, message, status, retryAfterMs }: NonNullable<ScriptRule['error']>): LlmError {
  return llmError(code, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
