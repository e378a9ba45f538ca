import { Bus, checkTopology, startCommandService } from '@jetloop/messaging';
import { loadConfig, nestLogger, runMain } from '@jetloop/platform';
import { configSchema } from './config.js';
import { LoopOrchestratorModule } from './loop-orchestrator.module.js';

const service = 'loop-orchestrator';

await runMain(service, async (logger) => {
  const config = loadConfig(configSchema);
  const bus = await Bus.connect({ url: config.NATS_URL, name: service });
  await checkTopology(bus);
  const running = await startCommandService({
    bus,
    service,
    module: LoopOrchestratorModule.register({
      workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS,
      allowInlineAgents: config.JETLOOP_ALLOW_INLINE_AGENTS,
    }),
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
