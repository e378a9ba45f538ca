import { subjects } from '@jetloop/contracts';
import { ApiError, decodeCommit, type Bus } from '@jetloop/messaging';

export interface LastEvent {
  /** One less than the number of events. */
  readonly sequence: number;
  readonly type: string;
  /** RFC 3339: when it was committed. */
  readonly at: string;
}

const NO_MESSAGE = 10037;

/** The last event of a session by the leader's word; undefined where there is no such session. @throws DamagedSessionError */
export async function lastEvent(bus: Bus, tenant: string, session: string): Promise<LastEvent | undefined> {
  try {
    const { message } = await bus.api<{ message: { data: string } }>('STREAM.MSG.GET.JOURNAL', {
      last_by_subj: subjects.log(tenant, session),
    });
    const { events, at } = decodeCommit(Buffer.from(message.data, 'base64'));
    const event = events.at(-1);
    return event && { sequence: event.sequence, type: event.type, at };
  } catch (error) {
    if (error instanceof ApiError && error.code === NO_MESSAGE) return undefined; // None, or removed since.
    throw error;
  }
}
