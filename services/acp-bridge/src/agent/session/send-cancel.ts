import { setTimeout as sleep } from 'node:timers/promises';
import { CommandRefusedError, type JetloopClient } from '@jetloop/client';

export interface CancelSending {
  readonly client: Pick<JetloopClient, 'cancel'>;
  readonly session: string;
  readonly messageIds: readonly string[];
  /** RFC 3339: when the turn began that is meant; none: the messages alone, which no turn has taken yet. */
  readonly turnStartedAt: string | undefined;
  /** Whether there is nothing left to cancel. */
  readonly isOver: () => boolean;
  readonly complain: (line: string) => void;
}

const AGAIN_MS = 1_000;

/** Before everything: nothing but the named messages is reached. */
const NOTHING_ELSE = new Date(0).toISOString();

/**
 * Sends a cancel that names its messages, until it was taken or there is nothing left to cancel. By the time of the log it
 * reaches no later turn, and nothing that somebody else has queued behind this one.
 */
export async function sendCancel(sending: CancelSending): Promise<void> {
  const { client, session, messageIds, turnStartedAt: asOf = NOTHING_ELSE, isOver, complain } = sending;
  while (messageIds.length > 0 && !isOver()) {
    try {
      await client.cancel(session, { reason: 'cancelled in the editor', asOf, messageIds });
      return;
    } catch (error) {
      complain(
        `session ${session}: the cancel was not taken: ${error instanceof Error ? error.message : String(error)}`,
      );
      const mayBeLater = error instanceof CommandRefusedError && ['full', 'unavailable'].includes(error.code);
      if (!mayBeLater) return;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
  }
}
