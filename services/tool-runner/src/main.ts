import { Bus, checkTopology, startCommandService } from '@jetloop/messaging';
import { commonConfig, loadConfig, nestLogger, runMain } from '@jetloop/platform';
import { z } from 'zod';
import { ToolRunnerModule } from './tool-runner.module.js';

const service = 'tool-runner';

const configSchema = z.object({
  ...commonConfig,
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
});

await runMain(service, async (logger) => {
  const config = loadConfig(configSchema);
  const bus = await Bus.connect({ url: config.NATS_URL, name: service });
  await checkTopology(bus);
  const running = await startCommandService({
    bus,
    service,
    module: ToolRunnerModule.register({ workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS }),
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
