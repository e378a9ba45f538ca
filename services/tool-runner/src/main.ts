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
  /** `true`: the tool http_fetch is there. */
  JETLOOP_HTTP_FETCH: z.enum(['true', 'false']).default('false'),
  /** Private addresses and ranges that http_fetch may reach all the same, separated by commas. */
  JETLOOP_HTTP_FETCH_ADDRESSES: z.string().default('').transform(names),
  /** Calls of one tenant at once; default: no limit but the slots. */
  JETLOOP_TENANT_LIMIT: z.coerce.number('expected a number').int().min(1).optional(),
  /** Calls of one tenant at once by tool: `bash=8,http_fetch=4`. */
  JETLOOP_TOOL_LIMITS: z.string().default('').transform(toolLimits),
  /** Memory (MiB) that a process of bash may write to. */
  JETLOOP_TOOL_MEMORY_MB: z.coerce.number('expected MiB').int().min(16).optional(),
  /** Processes of the runner's user at once, for bash. */
  JETLOOP_TOOL_PROCESSES: z.coerce.number('expected a number').int().min(1).optional(),
};

function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function given<K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> {
  const set: Partial<Record<K, number>> = {};
  if (value !== undefined) set[key] = value;
  return set;
}

function toolLimits(text: string, context: z.RefinementCtx): Record<string, number> {
  const pairs = names(text).map((pair) => pair.split('='));
  const isFine = pairs.every(
    ([tool, most, ...rest]) => tool !== '' && /^[1-9]\d*$/.test(most ?? '') && rest.length === 0,
  );
  if (!isFine) context.addIssue({ code: 'custom', message: 'expected tool=number, separated by commas: bash=8' });
  return Object.fromEntries(pairs.map(([tool = '', most]) => [tool, Number(most)]));
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
        toolLimits: config.JETLOOP_TOOL_LIMITS,
        ...given('tenantLimit', config.JETLOOP_TENANT_LIMIT),
        ...given('memoryMb', config.JETLOOP_TOOL_MEMORY_MB),
        ...given('processes', config.JETLOOP_TOOL_PROCESSES),
        ...(config.JETLOOP_HTTP_FETCH === 'true'
          ? { httpFetch: { addresses: config.JETLOOP_HTTP_FETCH_ADDRESSES } }
          : {}),
      }),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  ),
);
