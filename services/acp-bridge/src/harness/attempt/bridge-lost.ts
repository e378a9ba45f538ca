import { transport, type HarnessFailure } from './harness-failure.js';

/** The end of a run whose attempt somebody else had begun. */
export function bridgeLost(): HarnessFailure {
  const message =
    'The bridge that drove this attempt is gone, and the agent with it; what it had done is not repeated.';
  return transport('bridge_lost', message);
}
