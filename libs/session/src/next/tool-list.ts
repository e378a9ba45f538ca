import type { SessionState, TurnState } from '../state.js';

/** The list is asked for once a turn, before its first step, so that a changed set of tools is seen (spec 1.4). */
export function wantsToolList(state: SessionState, turn: TurnState): boolean {
  // An external agent brings its own tools.
  if (state.agent.harness) return false;
  const hasTools = state.agent.tools.length > 0 || Object.keys(state.agent.mcpServers).length > 0;
  return hasTools && !turn.listed;
}
