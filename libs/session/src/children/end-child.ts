import type { Work } from '../work/work.js';

/** Ends a child whose parent does not wait for it any more. `actor`: for the child's log. The same command each time. */
export function endChild(session: string, actor: string): Work {
  const reason = 'the session that started this one ended its turn';
  const command = { kind: 'cancel' as const, commandId: `end-${session}`.slice(0, 64), actor, reason };
  return { kind: 'child', session, command };
}
