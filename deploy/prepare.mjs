// The set-up job: brings the streams of NATS and the tables of Postgres up to date, then ends. It may run at every
// rollout: what is there already stays. Whatever it is not given an address of, it leaves alone.
import { applyTopology, Bus } from '@jetloop/messaging';
import { migrate } from '@jetloop/persistence';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const { NATS_URL: natsUrl, DATABASE_URL: databaseUrl } = process.env;

/** Servers that start at the same time are not there at once; a refusal that stays is the job's failure. */
async function patiently(what, work) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await work();
      console.log(`prepare: ${what} is up to date`);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

if (natsUrl)
  await patiently('the topology', async () => {
    const bus = await Bus.connect({ url: natsUrl, name: 'prepare' });
    try {
      await applyTopology(bus);
    } finally {
      await bus.close();
    }
  });
if (databaseUrl) await patiently('the schema', () => migrate(databaseUrl));
