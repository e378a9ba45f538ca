import { assertJson, type FinishReason, type Json } from '@jetloop/contracts';
import type { Assembled } from '../adapter/assemble.js';
import type { Verdict } from './verdict.js';

/** Why a value does not fit the schema that was asked for; undefined: it fits. */
export type FindMisfit = (value: unknown) => string | undefined;

/**
 * What an answer is where an object was asked for: one json block. What is no JSON is no answer of the protocol; JSON
 * that misses the schema is `object_decode` (spec 4.3). A filtered answer stays what it is.
 */
export function objectAnswer(
  said: Assembled,
  finish: FinishReason,
  findMisfit: FindMisfit,
): { readonly said: Assembled; readonly verdict: Verdict } {
  if (finish === 'content-filter') return { said, verdict: { finish } };
  const text = said.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const parsed = parse(text);
  if (!parsed) return { said, verdict: failed('protocol', `the answer is no JSON (finish: ${finish})`) };
  const misfit = findMisfit(parsed.value);
  if (misfit !== undefined) return { said, verdict: failed('object_decode', misfit) };
  return { said: { ...said, content: [{ type: 'json', value: parsed.value }] }, verdict: { finish: 'stop' } };
}

function failed(code: 'protocol' | 'object_decode', message: string): Verdict {
  return { error: { code, message, retryable: false } };
}

function parse(text: string): { readonly value: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    assertJson('the answer', value);
    return { value };
  } catch {
    return undefined; // no JSON, or a number that JSON cannot give back: the caller says so, without the text
  }
}
