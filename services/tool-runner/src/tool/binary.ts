const MAGIC: [string, string][] = [
  ['89504e470d0a1a0a', 'PNG image'],
  ['ffd8ff', 'JPEG image'],
  ['474946383761', 'GIF image'],
  ['474946383961', 'GIF image'],
  ['255044462d', 'PDF document'],
  ['504b0304', 'ZIP archive'],
  ['1f8b', 'gzip data'],
  ['28b52ffd', 'Zstandard data'],
  ['fd377a585a00', 'XZ data'],
  ['425a68', 'bzip2 data'],
  ['7f454c46', 'ELF program'],
  ['0061736d', 'WebAssembly module'],
  ['53514c69746520666f726d6174203300', 'SQLite database'],
  ['fffe', 'UTF-16 text'],
  ['feff', 'UTF-16 text'],
];
const SAMPLE = 64 * 1024;
/** Old 8-bit encodings of European text stay below this share of bytes that are not UTF-8; data does not. */
const INVALID_SHARE = 0.1;

/** What the bytes are if they are not text, by their first bytes and by what text never holds; undefined for text. */
export function binaryType(bytes: Uint8Array): string | undefined {
  const sample = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SAMPLE));
  const replaced = sample.toString('utf8').split('\ufffd').length - 1;
  if (!sample.includes(0) && replaced <= sample.length * INVALID_SHARE) return undefined;
  const start = sample.subarray(0, 16).toString('hex');
  return MAGIC.find(([magic]) => start.startsWith(magic))?.[1] ?? 'unknown type';
}

/** One line that stands for binary data in the model's view. */
export function describeBinary(type: string, bytes: number): string {
  return `[binary data, ${type}, ${bytes} bytes, not shown]`;
}
