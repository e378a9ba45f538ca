import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';
import type { SentError } from './protocol.js';

/** What was thrown, as it goes from one thread to another. */
export function sendError(thrown: unknown): SentError {
  const { name, message, code, syscall } = readThrown(thrown);
  return { name, message, code, syscall, isForeseen: thrown instanceof ToolError };
}

/** The same error on the other side. */
export function receiveError({ name, message, code, syscall, isForeseen }: SentError): Error {
  if (isForeseen && code !== undefined) return new SentToolError(name, code, message);
  return Object.assign(new Error(message), { name, code, syscall });
}

class SentToolError extends ToolError {
  constructor(
    override readonly name: string,
    code: string,
    message: string,
  ) {
    super(code, message);
  }
}
