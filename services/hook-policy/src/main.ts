import { overNats, startCommandService } from '@jetloop/messaging/nest';
import { runService } from '@jetloop/platform';
import { hookPolicyConfig, optionsOf } from './config.js';
import { HookPolicyModule } from './hook-policy.module.js';

const service = 'hook-policy';

await runService(service, hookPolicyConfig, async (config, { logger, metrics }) => {
  // Before the first connection: what a module lacks is said at once.
  const options = await optionsOf(config, process.cwd());
  return overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: HookPolicyModule.register(options),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  );
});
