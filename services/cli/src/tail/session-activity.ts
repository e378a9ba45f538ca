import type { SessionEntry } from '@jetloop/client';
import { isKnownEvent, type TurnEnd } from '@jetloop/contracts';
import { evolve, type SessionState } from '@jetloop/session';
import { waitsFor } from './waits-for.js';

/** What a session is about, by its log from the first event on. */
export class SessionActivity {
  /** How its last turn ended; undefined where none has. */
  lastEnd: TurnEnd | undefined;
  private state: SessionState | undefined;

  constructor(
    private readonly tenant: string,
    private readonly session: string,
  ) {}

  /** Takes the next event. @throws BrokenLogError */
  see({ event, at, causation }: SessionEntry): void {
    this.state = evolve(this.state, event, { tenant: this.tenant, session: this.session, at, causation });
    if (isKnownEvent(event) && event.type === 'turn.end') this.lastEnd = event.data.reason;
  }

  /** What it waits for, in words. */
  get waitsFor(): string[] {
    return this.state ? waitsFor(this.state) : [];
  }

  get isClosed(): boolean {
    return this.state?.status === 'closed';
  }

  /** No turn is open, and nothing that waits will begin one. Steering of a cancelled turn waits for the next prompt. */
  get isIdle(): boolean {
    const { state } = this;
    return state === undefined || (state.turn === undefined && state.queue.every(({ lane }) => lane === 'step'));
  }
}
