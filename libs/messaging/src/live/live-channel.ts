import { subjects, type LiveAbort, type LiveDelta, type LiveTool } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';

interface LiveValues {
  delta: LiveDelta;
  tool: LiveTool;
  progress: LiveTool;
  abort: LiveAbort;
}

/** Core NATS: what is shown while it happens. Not stored, may get lost, never needed for correctness. */
export class LiveChannel {
  constructor(private readonly bus: Bus) {}

  publish<K extends keyof LiveValues>(kind: K, tenant: string, session: string, value: LiveValues[K]): void {
    this.bus.nats.publish(subjects.live(tenant, session, kind), JSON.stringify(value));
  }
}
