import { randomBytes } from 'node:crypto';

/** An id for a new session that sorts by time: `run-20261130-071530-3fa2`. */
export function newSessionId(now = new Date()): string {
  const digits = now.toISOString().replaceAll(/[-:]/g, '').slice(0, 15).replace('T', '-');
  return `run-${digits}-${randomBytes(2).toString('hex')}`;
}
