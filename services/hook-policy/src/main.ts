import { Bus, checkTopology, startCommandService } from '@jetloop/messaging';
import { commonConfig, loadConfig, nestLogger, runMain } from '@jetloop/platform';
import { z } from 'zod';
import { HookPolicyModule } from './hook-policy.module.js';

const service = 'hook-policy';

await runMain(service, async (logger) => {
  const config = loadConfig(z.object(commonConfig));
  const bus = await Bus.connect({ url: config.NATS_URL, name: service });
  await checkTopology(bus);
  const running = await startCommandService({
    bus,
    service,
    module: HookPolicyModule.register(),
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
