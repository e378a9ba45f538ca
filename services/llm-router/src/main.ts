import { readFile } from 'node:fs/promises';
import { overNats, startCommandService } from '@jetloop/messaging';
import { runService } from '@jetloop/platform';
import { z } from 'zod';
import { parseCatalogue } from './catalogue/load-catalogue.js';
import { attemptReports } from './routing/attempt-reports.js';
import { LlmRouterModule } from './llm-router.module.js';

const service = 'llm-router';

const configShape = {
  /** The catalogue of model targets, YAML or JSON. */
  JETLOOP_MODELS: z.string('expected the path of a models.yaml'),
  /** Model calls that this process makes at once; at so many nothing is pulled. */
  JETLOOP_MAX_STREAMS: z.coerce.number('expected a number').int().min(1).default(512),
  /** Model calls of one tenant at once in this process; absent: all of them. */
  JETLOOP_TENANT_LIMIT: z.coerce.number('expected a number').int().min(1).optional(),
};

await runService(service, configShape, async (config, { logger, log, metrics }) => {
  const catalogue = parseCatalogue(await readFile(config.JETLOOP_MODELS, 'utf8'), config.JETLOOP_MODELS);
  return overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: LlmRouterModule.register({
        catalogue,
        observe: attemptReports(log, metrics),
        ...(config.JETLOOP_TENANT_LIMIT === undefined ? {} : { tenantLimit: config.JETLOOP_TENANT_LIMIT }),
      }),
      slots: config.JETLOOP_MAX_STREAMS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  );
});
