/** Characters that two texts must share in a row. */
const RUN = 8;
const BASE = 31;
/** BASE to the power of RUN - 1, in 32 bits. */
const FIRST = Array.from({ length: RUN - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);

/**
 * Which characters of a message stand in one of the texts too, in runs of 8 or more. Each text is gone over once: it may be
 * a conversation of megabytes, and everybody else's streams wait meanwhile.
 */
export function sharedRuns(message: string, texts: readonly string[]): boolean[] {
  const shared = new Array<boolean>(message.length).fill(false);
  const places = new Map<string, number[]>();
  // By 16 bits of their hash, so that most places of a text cost no look-up.
  const isLikely = new Uint8Array(1 << 16);
  eachRun(message, (at, hash) => {
    const run = message.slice(at, at + RUN);
    places.set(run, [...(places.get(run) ?? []), at]);
    isLikely[hash] = 1;
  });
  for (const text of texts) {
    eachRun(text, (at, hash) => {
      if (isLikely[hash] !== 1) return;
      const run = text.slice(at, at + RUN);
      for (const place of places.get(run) ?? []) shared.fill(true, place, place + RUN);
      // Found once is enough, however often the text repeats it.
      places.delete(run);
    });
  }
  return shared;
}

/** Every run of a text, with 16 bits that are the same for the same run. */
function eachRun(text: string, visit: (at: number, hash: number) => void): void {
  let hash = 0;
  for (let end = 0; end < text.length; end++) {
    if (end >= RUN) hash -= Math.imul(text.charCodeAt(end - RUN), FIRST);
    hash = (Math.imul(hash, BASE) + text.charCodeAt(end)) | 0;
    if (end >= RUN - 1) visit(end - RUN + 1, hash >>> 16);
  }
}
