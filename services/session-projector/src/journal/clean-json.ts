/** Written for every character that PostgreSQL cannot store. */
const REPLACEMENT = '\uFFFD';
/** In JSON text: an escape that may stand for U+0000 or for half of a surrogate pair. */
const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

/** Text without U+0000 and lone surrogates, which neither `text` nor `jsonb` can hold. */
export function cleanText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\u0000') ? wellFormed.replaceAll('\u0000', REPLACEMENT) : wellFormed;
}

/**
 * Whether the bytes of a JSON text may hold what `cleanJson` replaces. False is certain; true needs a look at the values,
 * since the text of a backslash and `u0000` looks the same here.
 */
export function mayNeedCleaning(json: Uint8Array): boolean {
  return SUSPECT.test(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('latin1'));
}

/** A copy with every string and key cleaned. Of keys that become the same, the last one counts. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item)]));
}
