import { Bus, checkTopology, startFollowerService } from '@jetloop/messaging';
import { commonConfig, loadConfig, nestLogger, runMain } from '@jetloop/platform';
import { z } from 'zod';
import { SessionProjectorModule } from './session-projector.module.js';

const service = 'session-projector';

const configSchema = z.object({
  NATS_URL: commonConfig.NATS_URL,
  DATABASE_URL: z.string('expected the address of PostgreSQL, postgres://user:password@host:port/database'),
  /** Whether it brings the schema up to date itself; false where a job does it before the rollout. */
  JETLOOP_MIGRATE: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
});

await runMain(service, async (logger) => {
  const config = loadConfig(configSchema);
  const bus = await Bus.connect({ url: config.NATS_URL, name: service });
  await checkTopology(bus);
  const running = await startFollowerService({
    bus,
    module: SessionProjectorModule.register({ databaseUrl: config.DATABASE_URL, migrate: config.JETLOOP_MIGRATE }),
    logger: nestLogger(logger),
  });
  return {
    stop: async () => {
      await running.stop();
      await bus.close();
    },
  };
});
