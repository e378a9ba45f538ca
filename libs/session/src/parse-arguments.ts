import type { Json } from '@jetloop/contracts';

export type ParsedArguments =
  { readonly ok: true; readonly value: Record<string, Json> } | { readonly ok: false; readonly problem: string };

const expected = 'expected one JSON object';

/**
 * Reads the arguments of a tool call as the model wrote them. Blank text means `{}`. Anything but one JSON object, and
 * an object that names a key twice, is a problem in words that the model can act on.
 */
export function parseArguments(raw: string): ParsedArguments {
  if (raw.trim() === '') return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return {
      ok: false,
      problem: `${expected}, but the text is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { ok: false, problem: `${expected}, got ${found}` };
  }
  const duplicate = firstDuplicateKey(raw);
  if (duplicate !== undefined)
    return { ok: false, problem: `${expected} with distinct keys, but ${JSON.stringify(duplicate)} stands twice` };
  return { ok: true, value: value as Record<string, Json> };
}

/** The first key that stands twice in one object of valid JSON text. `JSON.parse` would keep the last in silence. */
function firstDuplicateKey(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  for (let match = token.exec(json); match; match = token.exec(json)) {
    const text = match[0];
    if (text === '{') open.push(new Set());
    else if (text === '[') open.push(undefined);
    else if (text === '}' || text === ']') open.pop();
    else if (/^\s*:/.test(json.slice(token.lastIndex, token.lastIndex + 64))) {
      const keys = open.at(-1);
      const key: unknown = JSON.parse(text);
      if (keys === undefined || typeof key !== 'string') continue;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}
