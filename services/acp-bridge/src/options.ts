import type { HarnessTimes } from './harness/attempt/times.js';

/** Settings of the bridge. */
export interface AcpBridgeOptions {
  /** Folders under which every session's workspace lies. */
  readonly workspaceRoots: readonly string[];
  /** Waits other than the usual ones (milliseconds): for tests. */
  readonly times?: Partial<HarnessTimes>;
}

export const ACP_BRIDGE_OPTIONS = Symbol('ACP_BRIDGE_OPTIONS');
