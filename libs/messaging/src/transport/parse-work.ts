import { acpCommandSchema, hookCommandSchema, llmCommandSchema, toolCommandSchema } from '@jetloop/contracts';
import type { AwaitedWork } from '@jetloop/session';
import { z } from 'zod';
import { TerminalError } from '../errors.js';

export type WorkerKind = AwaitedWork['kind'];

/** Reads a work command. @throws TerminalError `invalid`, saying what was expected */
export function parseWork(kind: WorkerKind, body: Uint8Array): AwaitedWork {
  const value = parseJson(body);
  switch (kind) {
    case 'llm':
      return { kind, command: checked(kind, llmCommandSchema.safeParse(value)) };
    case 'tool':
      return { kind, command: checked(kind, toolCommandSchema.safeParse(value)) };
    case 'hook':
      return { kind, command: checked(kind, hookCommandSchema.safeParse(value)) };
    case 'acp':
      return { kind, command: checked(kind, acpCommandSchema.safeParse(value)) };
  }
}

function checked<T>(kind: WorkerKind, parsed: z.ZodSafeParseResult<T>): T {
  if (!parsed.success) throw new TerminalError('invalid', `no ${kind} command: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The JSON of a message's body. @throws TerminalError `invalid`, without a word of the body */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // The parser's own words quote the body.
    throw new TerminalError('invalid', `no JSON in the ${body.length} bytes of the body`);
  }
}
