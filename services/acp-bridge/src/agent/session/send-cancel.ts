import { setTimeout as sleep } from 'node:timers/promises';
import { CommandRefusedError, type JetloopClient } from '@jetloop/client';

export interface CancelSending {
  readonly client: Pick<JetloopClient, 'cancel'>;
  readonly session: string;
  readonly messageIds: readonly string[];
  /** Whether there is nothing left to cancel. */
  readonly isOver: () => boolean;
  readonly complain: (line: string) => void;
}

const AGAIN_MS = 1_000;

/** Sends a cancel that names its messages, until it was taken or there is nothing left to cancel. */
export async function sendCancel({ client, session, messageIds, isOver, complain }: CancelSending): Promise<void> {
  while (messageIds.length > 0 && !isOver()) {
    try {
      await client.cancel(session, { reason: 'cancelled in the editor', messageIds });
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
