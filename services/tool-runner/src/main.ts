import { overNats, startCommandService } from '@jetloop/messaging/nest';
import { folderList, runService } from '@jetloop/platform';
import { settingsOf, toolRunnerConfig } from './config.js';
import { ToolRunnerModule } from './tool-runner.module.js';

const service = 'tool-runner';

const configShape = {
  ...toolRunnerConfig,
  JETLOOP_WORKSPACE_ROOTS: folderList,
};

await runService(service, configShape, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, async (bus) =>
    startCommandService({
      bus,
      service,
      module: ToolRunnerModule.register({
        ...(await settingsOf(config, process.cwd())),
        workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS,
        ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      }),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  ),
);
