import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@jetloop/messaging';
import { createDatabasePool } from '@jetloop/persistence';
import { z } from 'zod';
import { streamState } from './stream-counts.ts';

const LIMIT_MS = 120_000;
const LOOK_MS = 20;
const rowsSchema = z.array(z.object({ n: z.number() }));

/** Looks at SQL from outside, as an operator does. */
export class Projection {
  private readonly bus: Bus;
  private readonly pool;

  constructor(bus: Bus, databaseUrl: string) {
    this.bus = bus;
    this.pool = createDatabasePool(databaseUrl, { max: 1, applicationName: 'bench' });
  }

  head = async (): Promise<number> => (await streamState(this.bus, 'JOURNAL')).last_seq;

  /** The stream sequence up to which SQL holds the journal. */
  position = (): Promise<number> => this.number('select coalesce(max(stream_seq), 0) as n from position');

  /** Bytes of write-ahead log so far. */
  walBytes = (): Promise<number> => this.number('select wal_bytes as n from pg_stat_wal');

  /** Waits until SQL holds the journal; milliseconds that it took. */
  async caughtUp(): Promise<number> {
    const head = await this.head();
    return until('SQL', async () => (await this.position()) >= head);
  }

  /** Waits until EVENTS holds every event that SQL holds; milliseconds that it took. */
  async unfolded(): Promise<number> {
    const events = await this.number('select count(*) as n from events');
    return until('EVENTS', async () => (await streamState(this.bus, 'EVENTS')).last_seq >= events);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async number(query: string): Promise<number> {
    const { rows } = await this.pool.query<Record<string, unknown>>(query);
    return rowsSchema.parse(rows)[0]?.n ?? 0;
  }
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await isThere())) {
    if (performance.now() - began > LIMIT_MS) throw new Error(`${what} has not caught up after ${LIMIT_MS} ms`);
    await sleep(LOOK_MS);
  }
  return performance.now() - began;
}
