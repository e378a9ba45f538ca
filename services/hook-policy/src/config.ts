import { addressList, loadConfig, nameList } from '@jetloop/platform';
import { z } from 'zod';
import type { HookPolicyOptions } from './options.js';
import { loadPlugins } from './plugin/load-plugins.js';

/** The service's own settings. */
export const hookPolicyConfig = {
  /** Modules of policies, separated by commas: paths from the current folder (`./policies/mine.ts`), or names of packages. */
  JETLOOP_POLICY_MODULES: nameList,
  /** Private addresses and ranges that webhooks may be at, separated by commas: `10.1.0.0/16,127.0.0.1`. */
  JETLOOP_WEBHOOK_ADDRESSES: addressList,
} as const;

type Settings = z.output<z.ZodObject<typeof hookPolicyConfig>>;

/** The options that settings stand for, with their modules loaded. @throws PolicyModuleError */
export async function optionsOf(settings: Settings, folder: string): Promise<HookPolicyOptions> {
  return {
    plugins: await loadPlugins(settings.JETLOOP_POLICY_MODULES, folder),
    webhookAddresses: settings.JETLOOP_WEBHOOK_ADDRESSES,
  };
}

/**
 * The same from an environment, for a program that runs the service inside itself.
 * @throws ConfigError, PolicyModuleError
 */
export function readHookPolicyOptions(env: NodeJS.ProcessEnv, folder: string): Promise<HookPolicyOptions> {
  return optionsOf(loadConfig(z.object(hookPolicyConfig), env), folder);
}
