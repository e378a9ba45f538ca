/** Settings of the bridge. */
export interface AcpBridgeOptions {
  /** Folders under which every session's workspace lies. */
  readonly workspaceRoots: readonly string[];
}

export const ACP_BRIDGE_OPTIONS = Symbol('ACP_BRIDGE_OPTIONS');
