import { createHash } from 'node:crypto';

/** The SHA-256 that a `SHA256SUMS` text gives for a file, in lower case. */
export function publishedChecksum(sums: string, fileName: string): string | undefined {
  for (const line of sums.split('\n')) {
    const match = /^([0-9a-fA-F]{64})\s+[*]?(\S+)\s*$/.exec(line);
    if (match?.[2] === fileName) return match[1]?.toLowerCase();
  }
  return undefined;
}

/** Throws unless the content has the SHA-256 that is published for it. */
export function verifyChecksum(content: Uint8Array, sums: string, fileName: string): void {
  const expected = publishedChecksum(sums, fileName);
  if (expected === undefined) throw new Error(`SHA256SUMS does not name ${fileName}`);
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${fileName} has SHA-256 ${actual}, published is ${expected}: not used`);
}
