import { readFile } from 'node:fs/promises';
import { overNats, startCommandService } from '@jetloop/messaging/nest';
import { runService } from '@jetloop/platform';
import { z } from 'zod';
import { limitsOf, llmRouterConfig } from './config.js';
import { parseCatalogue } from './catalogue/load-catalogue.js';
import { attemptReports } from './routing/attempt-reports.js';
import { LlmRouterModule } from './llm-router.module.js';

const service = 'llm-router';

const configShape = {
  /** The catalogue of model targets, YAML or JSON. */
  JETLOOP_MODELS: z.string('expected the path of a models.yaml'),
  ...llmRouterConfig,
};

await runService(service, configShape, async (config, { logger, log, metrics }) => {
  const { maxStreams, ...limits } = limitsOf(config);
  const catalogue = parseCatalogue(await readFile(config.JETLOOP_MODELS, 'utf8'), config.JETLOOP_MODELS);
  return overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: LlmRouterModule.register({ catalogue, observe: attemptReports(log, metrics), ...limits }),
      slots: maxStreams,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  );
});
