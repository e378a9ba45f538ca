import type { EventData, HookReply, PolicyContext, Seam, SessionEvent } from '@jetloop/contracts';

/** Who answers when no single policy does. */
export const ALL_POLICIES = 'hook-policy';

type Decided = EventData<'policy.decided'>;

/** The record of a decision that is not a plain allow. */
export function decided(
  seam: Seam,
  policy: string,
  decision: string,
  more: Partial<Pick<Decided, 'reason' | 'callId' | 'messageId'>> = {},
): SessionEvent {
  return { type: 'policy.decided', data: { seam, policy, decision, ...more } };
}

/** What an answer brings beside its decision: runs of external hooks, and what observing policies would have decided. */
export function answerMarks(
  { seam, hooks, observed }: HookReply,
  about: Pick<Decided, 'callId' | 'messageId'>,
): SessionEvent[] {
  return [
    ...hooks.map((run): SessionEvent => ({ type: 'hook.result', data: { seam, ...run } })),
    ...observed.map((note): SessionEvent => ({
      type: 'policy.decided',
      data: { seam, ...note, ...about, observed: true },
    })),
  ];
}

/** Context that policies add, each under its policy's name. */
export function contexts(turn: number, added: readonly PolicyContext[]): SessionEvent[] {
  return added.map(({ policy, content }) => ({
    type: 'context.message',
    data: { turn, content, source: { kind: 'policy', name: policy } },
  }));
}

/** Why a decision cannot be used: it is none of its seam's. */
export function misplaced(seam: Seam, decision: string): string {
  return `it answered ${decision}, which ${seam} does not know`;
}
