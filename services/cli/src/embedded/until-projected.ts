import { setTimeout as sleep } from 'node:timers/promises';
import { Bus, JournalFollower } from '@jetloop/messaging';
import { runAuditQuery } from '@jetloop/persistence';
import type { RunningServices } from './running-services.js';

const POLL_MS = 50;

/** Waits until the tables hold all that the journal of running services holds now. */
export async function untilProjected({ natsUrl, databaseUrl }: RunningServices, timeoutMs: number): Promise<void> {
  const last = await endOfJournal(natsUrl);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { rows } = await runAuditQuery(databaseUrl, 'select coalesce(min(stream_seq), 0) from position');
    const position = Number(rows[0]?.[0]);
    if (position >= last) return;
    if (Date.now() > deadline)
      throw new Error(`SQL is at commit ${position} of ${last} after ${timeoutMs} ms: does the projector run?`);
    await sleep(POLL_MS);
  }
}

async function endOfJournal(natsUrl: string): Promise<number> {
  const bus = await Bus.connect({ url: natsUrl, name: 'jetloop-sql' });
  try {
    return (await new JournalFollower(bus).bounds()).last;
  } finally {
    await bus.close();
  }
}
