import { overNats, startCommandService } from '@jetloop/messaging';
import { runService } from '@jetloop/platform';
import { z } from 'zod';
import { ToolRunnerModule } from './tool-runner.module.js';
import { loadToolModules } from './tool/load-tool-modules.js';

const service = 'tool-runner';

const configShape = {
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
  /** Modules with tools beside the built-in ones: names of packages or paths of files, separated by commas. */
  JETLOOP_TOOL_MODULES: z.string().default('').transform(names),
};

function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

await runService(service, configShape, (config, { logger, metrics }) =>
  overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, async (bus) =>
    startCommandService({
      bus,
      service,
      module: ToolRunnerModule.register({
        workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS,
        extraTools: await loadToolModules(config.JETLOOP_TOOL_MODULES),
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
