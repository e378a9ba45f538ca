import { applyTopology, Bus, JournalFollower } from '@jetloop/messaging';
import { startFollowerService } from '@jetloop/messaging/nest';
import { createLogger, nestLogger } from '@jetloop/platform';
import { ProjectorService, SessionProjectorModule } from '@jetloop/session-projector';
import { startInfra } from '@jetloop/testing';
import type { CommandIo } from '../command-io.js';
import { Progress } from '../render/progress.js';
import { findData } from './find-data.js';
import { findRunning } from './running-services.js';
import { untilProjected } from './until-projected.js';

/** Milliseconds that a projection of all that was never projected may take. */
const CATCH_UP_MS = 120_000;

/**
 * Lends the address of the database: the one of DATABASE_URL, or, brought up to the end of the journal first, the one of
 * `jetloop up` in the current folder or the folder's embedded one. For the latter, of the services only the projector runs: no
 * session goes on by being looked at.
 */
export async function withProjection<T>(io: CommandIo, work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const address = io.env['DATABASE_URL'];
  if (address !== undefined && address !== '') return work(address);
  const running = await findRunning(io.folder, io.env);
  if (running) {
    await untilProjected(running, CATCH_UP_MS);
    return work(running.databaseUrl);
  }
  const dataDir = await findData(io.folder, io.env);
  const progress = new Progress(io.err);
  progress.say('starting nats-server and PostgreSQL');
  const stops: (() => Promise<void>)[] = [];
  try {
    const infra = await startInfra({ dataDir, onProgress: progress.say, env: io.env });
    stops.push(() => infra.stop());
    const bus = await Bus.connect({ url: infra.natsUrl, name: 'jetloop-sql' });
    stops.push(() => bus.close());
    await applyTopology(bus);
    progress.say('bringing the tables up to date');
    const projector = await startFollowerService({
      bus,
      module: SessionProjectorModule.register({ databaseUrl: infra.databaseUrl, migrate: true }),
      logger: nestLogger(createLogger('session-projector', io.env['LOG_LEVEL'] ?? 'error')),
    });
    stops.push(() => projector.stop());
    const { last } = await new JournalFollower(bus).bounds();
    await projector.context.get(ProjectorService).waitForProjection(last, CATCH_UP_MS);
    progress.done();
    return await work(infra.databaseUrl);
  } finally {
    for (const stop of stops.reverse()) await stop();
    progress.done();
  }
}
