import { PolicyModuleError, readHookPolicyOptions, type HookPolicyOptions } from '@jetloop/hook-policy';
import { ConfigError } from '@jetloop/platform';
import type { CommandIo } from '../command-io.js';
import { UsageError } from '../usage-error.js';

/** What policies may use besides rules, from JETLOOP_POLICY_MODULES and JETLOOP_WEBHOOK_ADDRESSES. @throws UsageError */
export async function loadPolicyOptions({
  env,
  folder,
}: Pick<CommandIo, 'env' | 'folder'>): Promise<HookPolicyOptions> {
  try {
    return await readHookPolicyOptions(env, folder);
  } catch (error) {
    if (error instanceof PolicyModuleError || error instanceof ConfigError) throw new UsageError(error.message);
    throw error;
  }
}
