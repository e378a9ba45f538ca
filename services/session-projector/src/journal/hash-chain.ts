import { createHash } from 'node:crypto';

/** The next link: SHA-256 over the link before (nothing for the first event of a session) and the event's bytes (spec 7.3). */
export function nextHash(previous: Uint8Array | undefined, raw: Uint8Array): Uint8Array {
  const hash = createHash('sha256');
  if (previous !== undefined) hash.update(previous);
  return hash.update(raw).digest();
}
