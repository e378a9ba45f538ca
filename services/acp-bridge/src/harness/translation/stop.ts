import type { FinishReason, HarnessError, HarnessFinished } from '@jetloop/contracts';
import { isObject, type JsonObject } from './frame.js';

/** How an attempt ended by what the agent answered to the prompt. */
export interface Stop {
  readonly outcome: HarnessFinished['outcome'];
  /** As the agent named it. */
  readonly stopReason?: string;
  readonly error?: HarnessError;
}

const outcomes: Readonly<Record<string, Exclude<HarnessFinished['outcome'], 'error'>>> = {
  end_turn: 'completed',
  max_tokens: 'max-tokens',
  max_turn_requests: 'max-steps',
  refusal: 'refused',
  cancelled: 'aborted',
};

/** Reads the answer to the prompt. `end_turn` is the only success; what is not known fails the turn (spec 6.2). */
export function stopOf(response: JsonObject): Stop {
  const { error, result } = response;
  if (error !== undefined) return { outcome: 'error', error: rpcError('session/prompt', error) };
  const stopReason = isObject(result) ? result['stopReason'] : undefined;
  if (typeof stopReason !== 'string') return failed('The answer to the prompt has no stop reason.');
  const outcome = Object.hasOwn(outcomes, stopReason) ? outcomes[stopReason] : undefined;
  if (outcome === undefined)
    return {
      ...failed(`The agent stopped for ${JSON.stringify(stopReason.slice(0, 100))}, which is not known.`),
      stopReason,
    };
  return { outcome, stopReason };
}

/** An error that the agent answered to one of our requests. */
export function rpcError(method: string, error: JsonObject[string]): HarnessError {
  const code = isObject(error) && typeof error['code'] === 'number' ? String(error['code']) : 'unknown';
  const message = isObject(error) && typeof error['message'] === 'string' ? error['message'] : 'no message';
  return {
    name: 'Harness',
    code: `rpc_${code}`,
    message: `The agent answered ${method} with error ${code}: ${message}`,
  };
}

/** How messages end that were still open at the end of an attempt. */
export function finishReasonOf(outcome: HarnessFinished['outcome']): FinishReason {
  switch (outcome) {
    case 'completed':
    case 'max-steps':
      return 'stop';
    case 'max-tokens':
      return 'max-tokens';
    case 'refused':
      return 'content-filter';
    case 'aborted':
    case 'error':
      return 'aborted';
  }
}

function failed(message: string): Stop {
  return { outcome: 'error', error: { name: 'Protocol', code: 'unknown_stop_reason', message } };
}
