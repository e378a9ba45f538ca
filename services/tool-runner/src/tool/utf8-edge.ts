const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** The largest length up to `wanted` that does not end within a character. */
export function characterEnd(bytes: Uint8Array, wanted: number): number {
  if (wanted >= bytes.length) return bytes.length;
  let end = Math.max(wanted, 0);
  // A character has at most three continuation bytes; more of them are not UTF-8, and any place is as good.
  for (let back = 0; back < 4 && end > 0 && isContinuation(bytes[end]); back += 1) end -= 1;
  return end;
}

/** The first offset from `wanted` on that does not begin within a character. */
export function characterStart(bytes: Uint8Array, wanted: number): number {
  let start = Math.max(wanted, 0);
  for (let ahead = 0; ahead < 4 && isContinuation(bytes[start]); ahead += 1) start += 1;
  return start;
}
