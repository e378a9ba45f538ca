import { readFile } from 'node:fs/promises';
import { Bus, checkTopology, startCommandService } from '@jetloop/messaging';
import { commonConfig, loadConfig, nestLogger, runMain } from '@jetloop/platform';
import { z } from 'zod';
import { parseCatalogue } from './catalogue/load-catalogue.js';
import { LlmRouterModule } from './llm-router.module.js';

const service = 'llm-router';

const configSchema = z.object({
  ...commonConfig,
  /** The catalogue of model targets, YAML or JSON. */
  JETLOOP_MODELS: z.string('expected the path of a models.yaml'),
});

await runMain(service, async (logger) => {
  const config = loadConfig(configSchema);
  const catalogue = parseCatalogue(await readFile(config.JETLOOP_MODELS, 'utf8'), config.JETLOOP_MODELS);
  const bus = await Bus.connect({ url: config.NATS_URL, name: service });
  await checkTopology(bus);
  const running = await startCommandService({
    bus,
    service,
    module: LlmRouterModule.register({ catalogue }),
    slots: config.JETLOOP_SLOTS,
    graceMs: config.JETLOOP_GRACE_MS,
    logger: nestLogger(logger),
  });
  return {
    stop: async () => {
      await running.stop();
      await bus.close();
    },
  };
});
