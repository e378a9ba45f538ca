import { overNats, startCommandService } from '@jetloop/messaging/nest';
import { runService } from '@jetloop/platform';
import { AcpBridgeModule } from './acp-bridge.module.js';
import { configShape } from './config.js';

const service = 'acp-bridge';

await runService(service, configShape, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: AcpBridgeModule.register({ workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS }),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  ),
);
