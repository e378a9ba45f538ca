/** What valid JSON text may still hide. `path` is dotted, as in `edits.0.path`. */
export type JsonFlaw = { kind: 'duplicate_key'; path: string } | { kind: 'too_deep' };

/** Deeper than any tool needs, and far from where recursion over the value would overflow. */
export const MAX_JSON_DEPTH = 100;

/** Finds the first doubled key in text that `JSON.parse` has accepted (it would keep the last one in silence). */
export function scanJson(text: string): JsonFlaw | undefined {
  const stack: { keys: Set<string> | undefined; at: string }[] = [];
  let lastString = '';
  for (let i = 0; i < text.length; i += 1) {
    const top = stack.at(-1);
    const character = text.charAt(i);
    switch (character) {
      case '"': {
        const end = closingQuote(text, i + 1);
        lastString = text.slice(i, end + 1);
        i = end;
        break;
      }
      case '{':
      case '[':
        if (stack.length >= MAX_JSON_DEPTH) return { kind: 'too_deep' };
        stack.push(character === '{' ? { keys: new Set(), at: '' } : { keys: undefined, at: '0' });
        break;
      case '}':
      case ']':
        stack.pop();
        break;
      case ',':
        if (top && !top.keys) top.at = String(Number(top.at) + 1);
        break;
      case ':': {
        if (!top?.keys) break;
        // Two spellings of one key ("a" and "\u0061") are one key.
        top.at = String(JSON.parse(lastString));
        if (top.keys.has(top.at)) return { kind: 'duplicate_key', path: stack.map((level) => level.at).join('.') };
        top.keys.add(top.at);
        break;
      }
    }
  }
  return undefined;
}

function closingQuote(text: string, from: number): number {
  let i = from;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
