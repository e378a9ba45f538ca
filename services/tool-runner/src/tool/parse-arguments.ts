import { z } from 'zod';
import { MAX_JSON_DEPTH, scanJson } from './scan-json.js';
import { readThrown } from './thrown.js';
import type { Fit, Tool } from './tool.js';

const JsonObject = z.record(z.string(), z.unknown());
// Well-formed JSON.stringify writes a surrogate as an escape only where its other half is missing.
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Reads the argument text of a model's call as one JSON object; blank text means `{}`. Says what was expected where it is not. */
export function parseArguments(raw: string): Fit {
  if (raw.trim() === '') return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return refuse(`the text is not valid JSON (${readThrown(error).message})`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return refuse(`got ${kindOf(value)}`);
  const flaw = scanJson(raw);
  if (flaw?.kind === 'duplicate_key') return refuse(`the key "${flaw.path}" is there twice; give each key once`);
  if (flaw?.kind === 'too_deep') return refuse(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
  if (!raw.isWellFormed() || LONE_SURROGATE.test(JSON.stringify(value)))
    return refuse('a string holds half a character');
  return { ok: true, value: JsonObject.parse(value) };
}

/** {@link parseArguments}, then the tool's own schema. */
export function parseToolArguments(tool: Tool, raw: string): Fit {
  const parsed = parseArguments(raw);
  return parsed.ok ? tool.fit(parsed.value) : parsed;
}

const refuse = (reason: string): Fit => ({
  ok: false,
  message: `Expected the arguments as one JSON object, but ${reason}.`,
});

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
