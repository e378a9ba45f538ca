import { RequestError } from '@agentclientprotocol/sdk';
import { CommandRefusedError, SessionNotFoundError } from '@jetloop/client';
import type { OutcomeCode } from '@jetloop/contracts';
import type { PromptAnswer } from './translate/prompt-answer.js';

const RPC_CODES: Readonly<Record<Exclude<OutcomeCode, 'not_found'>, number>> = {
  invalid: -32602,
  too_large: -32602,
  busy: -32600,
  closed: -32600,
  stale: -32600,
  conflict: -32600,
  full: -32603,
  unavailable: -32603,
};

/** What went wrong with a request about a session, as JSON-RPC says it: `data` has name and code. */
export function requestErrorOf(error: unknown, session: string): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof SessionNotFoundError) return RequestError.sessionNotFound(session);
  if (error instanceof CommandRefusedError) {
    const { code, message, name, retryAfterMs } = error;
    if (code === 'not_found') return RequestError.sessionNotFound(session);
    return new RequestError(RPC_CODES[code], message, {
      name,
      code,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return new RequestError(-32603, message, { name, code: 'internal' });
}

/** The error of a turn as the answer to its prompt. */
export function turnErrorOf({ name, code, message }: Extract<PromptAnswer, { kind: 'failed' }>): RequestError {
  return new RequestError(-32603, message, { name, code });
}

/** The request itself cannot be carried out as it is. */
export function invalidParams(message: string): RequestError {
  return new RequestError(-32602, message);
}

/** The request cannot be carried out now. */
export function invalidRequest(message: string): RequestError {
  return new RequestError(-32600, message);
}
