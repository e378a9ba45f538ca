import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPolicyPlugin, type PolicyPlugin } from './define-policy.js';

/** A module of policies that cannot be used: the service does not start without it. */
export class PolicyModuleError extends Error {
  override readonly name = 'PolicyModuleError';
}

/**
 * Loads the policies of modules: every export that `definePolicy` made.
 * @param modules paths (absolute, or from `folder` when they begin with a dot), or names of packages
 * @throws PolicyModuleError naming the module and what was expected
 */
export async function loadPlugins(modules: readonly string[], folder: string): Promise<PolicyPlugin[]> {
  const found = new Map<string, { plugin: PolicyPlugin; module: string }>();
  for (const module of modules) {
    const plugins = [...new Set(Object.values(await load(module, folder)).filter(isPolicyPlugin))];
    if (plugins.length === 0) {
      throw new PolicyModuleError(`The policy module ${module} exports no policy: expected one made by definePolicy.`);
    }
    for (const plugin of plugins) {
      const before = found.get(plugin.name);
      if (before) {
        const where = `${before.module} and ${module}`;
        throw new PolicyModuleError(`Two policies are named ${plugin.name} (${where}): expected distinct names.`);
      }
      found.set(plugin.name, { plugin, module });
    }
  }
  return [...found.values()].map(({ plugin }) => plugin);
}

async function load(module: string, folder: string): Promise<Record<string, unknown>> {
  const isPath = module.startsWith('.') || isAbsolute(module);
  const specifier = isPath ? pathToFileURL(resolve(folder, module)).href : module;
  try {
    return (await import(specifier)) as Record<string, unknown>;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PolicyModuleError(`The policy module ${module} cannot be loaded: ${why}`);
  }
}
