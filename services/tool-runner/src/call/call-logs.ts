import { SessionView, type Bus, type TurnLook } from '@jetloop/messaging';
import { callLogFold, isTurnOver, type CallLog } from './call-log.js';

/** The logs of sessions as tool calls see them. */
export class CallLogs extends SessionView<CallLog> implements TurnLook {
  constructor(bus: Bus) {
    super(bus, callLogFold);
  }

  async isTurnOver(tenant: string, session: string, turn: number): Promise<boolean> {
    return isTurnOver(await this.readAll(tenant, session), turn);
  }
}
