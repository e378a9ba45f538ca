import { expect } from '@jest/globals';
import type { RecordedEvent } from '@jetloop/contracts';
import { runAuditQuery } from '@jetloop/persistence';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumeEvents } from '../../e2e/support/external-consumer.js';

/** Where the projections of a session are. */
export interface Projections {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly tenant: string;
}

/** SQL and the public stream hold exactly what the journal holds of a session, as soon as they have followed. */
export async function equalsJournal(where: Projections, session: string, log: readonly RecordedEvent[]): Promise<void> {
  const journal = log.map(({ sequence, type, data }) => ({ sequence, type, data }));
  expect(await eventually(() => inSql(where, session), journal.length)).toEqual(journal);
  expect(await eventually(() => published(where, session), journal.length)).toEqual(journal);
}

async function inSql({ databaseUrl }: Projections, session: string): Promise<unknown[]> {
  const query = `select seq, type, data from events where session_id = '${session}' order by seq`;
  const { rows } = await runAuditQuery(databaseUrl, query);
  return rows.map(([sequence, type, data]) => ({ sequence, type, data }));
}

async function published({ natsUrl, tenant }: Projections, session: string): Promise<unknown[]> {
  const events = await consumeEvents(natsUrl, `evt.${tenant}.${session}.>`);
  return events.map(({ value }) => {
    const { sequence, type, data } = value as { sequence: number; type: string; data: unknown };
    return { sequence, type: type.replace('jetloop.', ''), data };
  });
}

/** Projections follow: asks until there are as many rows, or the time is over. */
async function eventually(ask: () => Promise<unknown[]>, count: number): Promise<unknown[]> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const rows = await ask();
    if (rows.length >= count || Date.now() > deadline) return rows;
    await sleep(200);
  }
}
