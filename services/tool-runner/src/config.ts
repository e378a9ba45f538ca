import { addressList, loadConfig, nameList } from '@jetloop/platform';
import { z } from 'zod';
import { ToolModules } from './module/tool-modules.js';
import type { ToolRunnerOptions } from './options.js';

const limit = z.coerce.number('expected a number').int().min(1).optional();

/** The service's own settings. */
export const toolRunnerConfig = {
  /** Modules with tools beside the built-in ones: names of packages or paths of files, separated by commas. */
  JETLOOP_TOOL_MODULES: nameList,
  /** `true`: the tool http_fetch is there. */
  JETLOOP_HTTP_FETCH: z.enum(['true', 'false']).default('false'),
  /** Private addresses and ranges that http_fetch may reach all the same, separated by commas. */
  JETLOOP_HTTP_FETCH_ADDRESSES: addressList,
  /** Private addresses and ranges that MCP servers behind a URL may be at, separated by commas: `10.1.0.0/16,127.0.0.1`. */
  JETLOOP_MCP_ADDRESSES: addressList,
  /** Calls of one tenant at once; default: no limit but the slots. */
  JETLOOP_TENANT_LIMIT: limit,
  /** Calls of one tenant at once by tool: `bash=8,http_fetch=4`. */
  JETLOOP_TOOL_LIMITS: nameList.transform(toolLimits),
  /** Memory (MiB) that a process of bash may write to. */
  JETLOOP_TOOL_MEMORY_MB: z.coerce.number('expected MiB').int().min(16).optional(),
  /** Memory (MiB) that the heap of one call of a module's tool may keep. */
  JETLOOP_TOOL_HEAP_MB: z.coerce.number('expected MiB').int().min(32).optional(),
  /** Processes of the runner's user at once, for bash. */
  JETLOOP_TOOL_PROCESSES: limit,
} as const;

type Settings = z.output<z.ZodObject<typeof toolRunnerConfig>>;
/** What a runner is set to, without where it works. */
export type ToolRunnerSettings = Omit<ToolRunnerOptions, 'workspaceRoots' | 'ackWaitMs'>;

/**
 * The options that settings stand for, with their modules loaded.
 * @param folder where paths of modules begin
 * @throws ToolModuleError
 */
export async function settingsOf(settings: Settings, folder: string): Promise<ToolRunnerSettings> {
  const { JETLOOP_TOOL_MODULES: names, JETLOOP_TOOL_HEAP_MB: heapMb } = settings;
  return {
    ...(names.length > 0 ? { modules: await ToolModules.load({ names, folder, heapMb }) } : {}),
    toolLimits: settings.JETLOOP_TOOL_LIMITS,
    mcpAddresses: settings.JETLOOP_MCP_ADDRESSES,
    ...given('tenantLimit', settings.JETLOOP_TENANT_LIMIT),
    ...given('memoryMb', settings.JETLOOP_TOOL_MEMORY_MB),
    ...given('processes', settings.JETLOOP_TOOL_PROCESSES),
    ...(settings.JETLOOP_HTTP_FETCH === 'true'
      ? { httpFetch: { addresses: settings.JETLOOP_HTTP_FETCH_ADDRESSES } }
      : {}),
  };
}

/**
 * The same from an environment, for a program that runs the service inside itself.
 * @throws ConfigError, ToolModuleError
 */
export async function readToolRunnerSettings(env: NodeJS.ProcessEnv, folder: string): Promise<ToolRunnerSettings> {
  return settingsOf(loadConfig(z.object(toolRunnerConfig), env), folder);
}

function given<K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> {
  const set: Partial<Record<K, number>> = {};
  if (value !== undefined) set[key] = value;
  return set;
}

function toolLimits(limits: readonly string[], context: z.RefinementCtx): Record<string, number> {
  const pairs = limits.map((pair) => pair.split('='));
  const isFine = pairs.every(
    ([tool, most, ...rest]) => tool !== '' && /^[1-9]\d*$/.test(most ?? '') && rest.length === 0,
  );
  if (!isFine) context.addIssue({ code: 'custom', message: 'expected tool=number, separated by commas: bash=8' });
  return Object.fromEntries(pairs.map(([tool = '', most]) => [tool, Number(most)]));
}
