import { parseArguments } from '@jetloop/session';
import type { Json } from '@jetloop/contracts';
import { PolicyError } from '../policy/policy-error.js';

/** What an external hook said. */
export type RawAnswer = { kind: 'nothing' } | { kind: 'text'; text: string } | { kind: 'json'; value: Json };

/**
 * Reads an answer: UTF-8, and one JSON object, plain text or nothing. Text that is meant as JSON and is none (or another value, or has
 * a key twice, or comes behind other text) is an error, where the dialect's first readers would have let it pass.
 * @throws PolicyError `invalid_utf8`, `invalid_json`
 */
export function readAnswer(bytes: Uint8Array): RawAnswer {
  const text = decode(bytes).trim();
  if (text === '') return { kind: 'nothing' };
  if (isJson(text) || /^(?:\{|\[\s*\{)/.test(text)) return { kind: 'json', value: parseObject(text) };
  const behind = /^\s*\{[\s\S]*$/m.exec(text)?.[0];
  if (behind !== undefined && isJson(behind)) {
    throw new PolicyError('invalid_json', 'expected a JSON object alone, got one behind other text');
  }
  return { kind: 'text', text };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The decoder says no more than this.
    throw new PolicyError('invalid_utf8', 'expected an answer in UTF-8');
  }
}

function parseObject(text: string): Json {
  // The parser's own message would quote the answer, and with it what the answer may quote.
  if (!isJson(text)) throw new PolicyError('invalid_json', 'expected one JSON object, got text that is not valid JSON');
  const parsed = parseArguments(text);
  if (parsed.ok) return parsed.value;
  throw new PolicyError('invalid_json', parsed.problem.replace('the arguments as one', 'one'));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Whether it parses is all that is asked.
    return false;
  }
}
