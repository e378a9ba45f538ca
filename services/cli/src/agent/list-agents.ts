import type { AgentSpec } from '@jetloop/contracts';
import type { AgentStore, Bus } from '@jetloop/messaging';

/** The agent specs of a tenant, by name; the server says which keys there are. */
export async function listAgents(bus: Bus, store: AgentStore, tenant: string): Promise<AgentSpec[]> {
  const prefix = `$KV.AGENTS.${tenant}.`;
  const { state } = await bus.api<{ state: { subjects?: Record<string, number> } }>('STREAM.INFO.KV_AGENTS', {
    subjects_filter: `${prefix}*`,
  });
  const names = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
  // A key that was deleted still has its marker: the store knows it as absent.
  return names.sort().flatMap((name) => store.find(tenant, name) ?? []);
}
