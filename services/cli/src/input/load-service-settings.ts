import { PolicyModuleError, readHookPolicyOptions, type HookPolicyOptions } from '@jetloop/hook-policy';
import { readLlmRouterLimits, type LlmRouterLimits } from '@jetloop/llm-router';
import { ConfigError } from '@jetloop/platform';
import { readToolRunnerSettings, ToolModuleError, type ToolRunnerSettings } from '@jetloop/tool-runner';
import type { CommandIo } from '../command-io.js';
import { UsageError } from '../usage-error.js';

type Place = Pick<CommandIo, 'env' | 'folder'>;

/** What services that run in this process are set to. */
export interface ServiceSettings {
  readonly hookPolicy: HookPolicyOptions;
  readonly llmRouter: LlmRouterLimits;
  readonly toolRunner: ToolRunnerSettings;
}

/** The settings of services from the variables that their own processes read. @throws UsageError */
export function loadServiceSettings({ env, folder }: Place): Promise<ServiceSettings> {
  return asUsageError(async () => ({
    hookPolicy: await readHookPolicyOptions(env, folder),
    llmRouter: readLlmRouterLimits(env),
    toolRunner: await readToolRunnerSettings(env, folder),
  }));
}

/** Those of the policy service alone. @throws UsageError */
export function loadPolicyOptions({ env, folder }: Place): Promise<HookPolicyOptions> {
  return asUsageError(() => readHookPolicyOptions(env, folder));
}

/** Those of the tool-runner alone. @param modules in place of those of JETLOOP_TOOL_MODULES. @throws UsageError */
export function loadToolSettings({ env, folder }: Place, modules?: readonly string[]): Promise<ToolRunnerSettings> {
  const given = modules === undefined ? env : { ...env, JETLOOP_TOOL_MODULES: modules.join(',') };
  return asUsageError(() => readToolRunnerSettings(given, folder));
}

async function asUsageError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isTheirs =
      error instanceof ConfigError || error instanceof PolicyModuleError || error instanceof ToolModuleError;
    throw isTheirs ? new UsageError(error.message) : error;
  }
}
