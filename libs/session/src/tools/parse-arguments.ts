import { assertJson, NotJsonError, type Json } from '@jetloop/contracts';
import { MAX_JSON_DEPTH, scanJson } from './scan-json.js';

/** The object, or why the text cannot be used, in words that the model can act on. */
export type ParsedArguments =
  { readonly ok: true; readonly value: Record<string, Json> } | { readonly ok: false; readonly problem: string };

// Well-formed JSON.stringify writes a surrogate as an escape only where its other half is missing.
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Reads the argument text of a model's call as one JSON object; blank text means `{}`. */
export function parseArguments(raw: string): ParsedArguments {
  if (raw.trim() === '') return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return refuse(`the text is not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (!isObject(value))
    return refuse(`got ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`);
  const flaw = scanJson(raw);
  if (flaw?.kind === 'duplicate_key') return refuse(`the key "${flaw.path}" is there twice; give each key once`);
  if (flaw?.kind === 'too_deep') return refuse(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
  if (!raw.isWellFormed() || LONE_SURROGATE.test(JSON.stringify(value)))
    return refuse('a string holds half a character');
  if (!isFinite(value)) return refuse('it holds a number that is too large');
  return { ok: true, value };
}

function refuse(reason: string): ParsedArguments {
  return { ok: false, problem: `expected the arguments as one JSON object, but ${reason}` };
}

/** What JSON.parse made is plain JSON all the way down. */
function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `1e999` is valid JSON text for a number that is none. */
function isFinite(value: Json): boolean {
  try {
    assertJson('arguments', value);
    return true;
  } catch (error) {
    if (error instanceof NotJsonError) return false;
    throw error;
  }
}
