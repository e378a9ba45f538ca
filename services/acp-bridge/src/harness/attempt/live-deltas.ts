import type { AcpCommand } from '@jetloop/contracts';
import type { LiveChannel } from '@jetloop/messaging';
import type { Delta } from '../translation/translation.js';

/** What an attempt says while it says it. */
export class LiveDeltas {
  private n = 0;

  constructor(
    private readonly live: LiveChannel,
    private readonly command: Pick<AcpCommand, 'tenant' | 'session' | 'turn' | 'step' | 'commandId'>,
  ) {}

  publish(delta: Delta | { readonly kind: 'end' }): void {
    const { tenant, session, turn, step, commandId } = this.command;
    this.live.publish('delta', tenant, session, { turn, step, attemptId: commandId, n: this.n++, ...delta });
  }
}
