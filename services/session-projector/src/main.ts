import { JournalFollower } from '@jetloop/messaging';
import { overNats, startFollowerService } from '@jetloop/messaging/nest';
import { runService } from '@jetloop/platform';
import { z } from 'zod';
import { exposeLag } from './expose-lag.js';
import { ProjectorService } from './projector/projector.service.js';
import { SessionProjectorModule } from './session-projector.module.js';
import { UnfolderService } from './unfolder/unfolder.service.js';

const service = 'session-projector';

const configShape = {
  DATABASE_URL: z.string('expected the address of PostgreSQL, postgres://user:password@host:port/database'),
  /** Whether it brings the schema up to date itself; false where a job does it before the rollout. */
  JETLOOP_MIGRATE: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
};

await runService(service, configShape, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, async (bus) => {
    const module = SessionProjectorModule.register({
      databaseUrl: config.DATABASE_URL,
      migrate: config.JETLOOP_MIGRATE,
    });
    const running = await startFollowerService({ bus, module, logger });
    const projector = running.context.get(ProjectorService);
    const unfolder = running.context.get(UnfolderService);
    const journal = running.context.get(JournalFollower);
    exposeLag(metrics, journal, { sql: () => projector.lastPosition(), events: () => unfolder.position() });
    const readiness = () => ({
      ...running.readiness(),
      // A standby is ready: it takes over within seconds.
      projector: ['standby', 'projecting'].includes(projector.state().status),
      unfolder: unfolder.state().status === 'unfolding',
    });
    return { ...running, readiness };
  }),
);
