import type { JetloopClient } from '@jetloop/client';
import { InterruptedError } from './interrupted-error.js';

/** Signals closer together than this are one: a terminal or a supervisor may send it to several processes, which pass it on. */
const SAME_PRESS_MS = 500;

/** What ^C does: the first one cancels the turn, which then ends by itself; the next one gives up waiting. */
export function cancelFirst(
  client: Pick<JetloopClient, 'cancel'>,
  session: string,
  giveUp: (why: unknown) => void,
  now: () => number = () => performance.now(),
): () => void {
  let cancelledAt: number | undefined;
  return () => {
    if (cancelledAt === undefined) {
      cancelledAt = now();
      client.cancel(session, { reason: 'interrupted by the user' }).catch(giveUp);
    } else if (now() - cancelledAt > SAME_PRESS_MS) giveUp(new InterruptedError(session));
  };
}
