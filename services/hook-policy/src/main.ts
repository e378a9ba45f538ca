import { overNats, startCommandService } from '@jetloop/messaging';
import { runService } from '@jetloop/platform';
import { HookPolicyModule } from './hook-policy.module.js';

const service = 'hook-policy';

await runService(service, {}, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: HookPolicyModule.register(),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  ),
);
