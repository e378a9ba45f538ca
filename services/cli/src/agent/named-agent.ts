import type { AgentSpec } from '@jetloop/contracts';
import { checkToken } from '../input/check-token.js';
import { loadAgent } from './load-agent.js';

/** The agent that an option names. */
export type NamedAgent = { readonly name: string } | { readonly spec: AgentSpec };

/** A file by its name's look; else the name of an agent that the services know. @throws UsageError */
export async function namedAgent(named: string | undefined): Promise<NamedAgent | undefined> {
  if (named === undefined) return undefined;
  const isFile = /[/\\]|\.(?:ya?ml|json)$/.test(named);
  return isFile ? { spec: await loadAgent(named) } : { name: checkToken('--agent', named) };
}
