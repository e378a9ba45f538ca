import { homedir } from 'node:os';
import type { MachineFact } from '../rules/machine-traces.js';

/** Shorter ones (`/root`, `/app`) may stand anywhere. */
const MIN_LENGTH = 8;
const PUBLIC_REGISTRY = 'registry.npmjs.org';

/** What would give away the machine that this runs on: its folders, and where its packages come from. */
export function machineFacts(root: string, env: NodeJS.ProcessEnv): MachineFact[] {
  const registry = env['npm_config_registry'];
  const registryHost = registry !== undefined && URL.canParse(registry) ? new URL(registry).host : '';
  return [
    { what: 'the folder of this checkout', text: root },
    { what: "this user's home", text: homedir() },
    { what: "this machine's registry", text: registryHost },
  ].filter(({ text }) => text.length >= MIN_LENGTH && text !== PUBLIC_REGISTRY);
}
