import { parseSessionSubject } from '@jetloop/contracts';
import { byteaText, writeRows, type Database } from '@jetloop/persistence';
import type { Kysely } from 'kysely';
import { cleanText } from '../journal/clean-json.js';
import type { Quarantined } from '../projection/read-batch.js';

/** Keeps commits that could not be projected, with their bytes. */
export async function quarantine(trx: Kysely<Database>, entries: readonly Quarantined[], now: Date): Promise<void> {
  const rows = entries.map(({ streamSequence, subject, raw, problem }) => ({
    tenant: parseSessionSubject(subject)?.tenant ?? '',
    stream_seq: streamSequence,
    subject: cleanText(subject),
    raw: byteaText(raw),
    problem: cleanText(problem),
    quarantined_at: now.toISOString(),
  }));
  await writeRows(trx, 'quarantine', rows, { replaceBy: ['tenant', 'stream_seq'] });
}
