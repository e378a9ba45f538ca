import { textOf, type ChildReply, type SettledResult } from '@jetloop/contracts';
import type { SessionState } from '../state.js';

/** What a session that ended tells the parent whose call created it. Undefined: it has no parent, or goes on. */
export function childReport(state: SessionState): { readonly session: string; readonly reply: ChildReply } | undefined {
  const { parent, status, lastEnd, lastAnswer = [], used } = state;
  if (!parent || status !== 'closed') return undefined;
  const reply: ChildReply = {
    commandId: state.session,
    kind: 'child',
    callId: parent.callId,
    outcome: lastEnd?.reason.kind ?? 'cancelled',
    content: lastAnswer.filter(({ type }) => type === 'text' || type === 'json'),
    usage: used.usage,
    cost: used.cost,
  };
  return { session: parent.session, reply };
}

/** The report of a child that could not be created. */
export function childRefused(session: string, callId: string, message: string): ChildReply {
  const content = [{ type: 'text' as const, text: message }];
  return { commandId: session, kind: 'child', callId, outcome: 'refused', content, usage: null, cost: 0 };
}

/** What a child's end makes of the call that started it. */
export function childResult({ commandId, outcome, content, usage, cost }: ChildReply): SettledResult {
  const child = { session: commandId, usage, cost };
  if (outcome === 'completed') {
    const answer = textOf(content).trim() === '' && content.every(({ type }) => type === 'text');
    const said = answer ? [{ type: 'text' as const, text: '(the agent gave no answer)' }] : content;
    return { content: said, isError: false, durationMs: 0, child };
  }
  const text = `The agent did not complete its task: ${outcome}.`;
  return {
    content: [{ type: 'text', text }, ...content],
    isError: true,
    error: { name: 'ChildFailed', code: `child_${outcome.replaceAll('-', '_')}` },
    durationMs: 0,
    child,
  };
}
