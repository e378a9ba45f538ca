const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * The bytes of each event of a commit, as they lie in the journal: what the hash chain speaks for. Parsing and writing
 * again could change them (spaces, escapes, order of keys).
 * @param raw a commit: valid JSON, an object with an array `events`
 */
export function sliceEvents(raw: Uint8Array): Uint8Array[] {
  let slices: Uint8Array[] = [];
  for (const [key, value] of members(raw)) {
    // As with JSON.parse, the last of two members with the same name counts.
    if (JSON.parse(Buffer.from(key).toString('utf8')) === 'events') slices = elements(value);
  }
  return slices;
}

/** Name and value of each member of an object. */
function* members(object: Uint8Array): Generator<[key: Uint8Array, value: Uint8Array]> {
  for (const member of elements(object)) {
    const colon = nextOutside(member, 0, (byte) => byte === COLON);
    yield [trim(member.subarray(0, colon)), trim(member.subarray(colon + 1))];
  }
}

/** What stands between the commas of an array or object. */
function elements(container: Uint8Array): Uint8Array[] {
  const inside = trim(trim(container).subarray(1, -1));
  if (inside.length === 0) return [];
  const found: Uint8Array[] = [];
  for (let start = 0; start <= inside.length;) {
    const end = nextOutside(inside, start, (byte) => byte === COMMA);
    found.push(trim(inside.subarray(start, end)));
    start = end + 1;
  }
  return found;
}

/** Where the next such byte stands outside of strings and nested values; the length if nowhere. */
function nextOutside(bytes: Uint8Array, from: number, isWanted: (byte: number | undefined) => boolean): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    else if (depth === 0 && isWanted(byte)) return at;
  }
  return bytes.length;
}

/** The closing quote of the string that opens at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at !== -1) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return bytes.length;
}

function trim(bytes: Uint8Array): Uint8Array {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
