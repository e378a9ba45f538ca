import type { SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentSpec } from '@jetloop/contracts';

/** The modes of a session's agent; undefined where it has none. */
export function modesOf(modes: AgentSpec['modes'], currentModeId: string | undefined): SessionModeState | undefined {
  if (currentModeId === undefined || modes.length === 0) return undefined;
  const availableModes = modes.map(({ id, name, description }) => ({
    id,
    name,
    ...(description === undefined ? {} : { description }),
  }));
  return { currentModeId, availableModes };
}
