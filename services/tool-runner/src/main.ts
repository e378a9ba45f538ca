import { overNats, startCommandService } from '@jetloop/messaging';
import { runService } from '@jetloop/platform';
import { z } from 'zod';
import { ToolRunnerModule } from './tool-runner.module.js';

const service = 'tool-runner';

const configShape = {
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
};

await runService(service, configShape, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: ToolRunnerModule.register({ workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS }),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  ),
);
