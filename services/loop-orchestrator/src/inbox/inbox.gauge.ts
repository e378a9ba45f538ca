import { Injectable } from '@nestjs/common';
import { subjects } from '@jetloop/contracts';
import { Bus } from '@jetloop/messaging';

/** Commands of callers that may wait in all inboxes together, and in one session's. */
export const MAX_WAITING = 10_000;
export const MAX_WAITING_OF_SESSION = 100;

/** Milliseconds for which a look at the stream is good, and after which a caller may try again. */
const FRESH_MS = 250;
const RETRY_AFTER_MS = 1_000;

/** How much waits in the inboxes: what is over the limit is refused as `full`, so that replies and timers always fit. */
@Injectable()
export class InboxGauge {
  private looked = 0;
  private counts: Promise<Map<string, number>> = Promise.resolve(new Map<string, number>());

  constructor(private readonly bus: Bus) {}

  /** Milliseconds after which to try again, when the session's inbox or all of them are full. */
  async fullFor(tenant: string, session: string): Promise<number | undefined> {
    const now = Date.now();
    if (now - this.looked > FRESH_MS) {
      this.looked = now;
      this.counts = this.look();
    }
    const counts = await this.counts;
    const inbox = subjects.inbox(tenant, session);
    const ofSession = counts.get(inbox) ?? 0;
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    // The asking command leaves the inbox, whatever the answer: what stands behind it may fit.
    counts.set(inbox, ofSession - 1);
    return ofSession > MAX_WAITING_OF_SESSION || all > MAX_WAITING ? RETRY_AFTER_MS : undefined;
  }

  private async look(): Promise<Map<string, number>> {
    const { state } = await this.bus.api<{ state: { subjects?: Record<string, number> } }>('STREAM.INFO.COMMANDS', {
      subjects_filter: 'cmd.session.*.*',
    });
    return new Map(Object.entries(state.subjects ?? {}));
  }
}
