/** Settings of the orchestrator. */
export interface OrchestratorOptions {
  /** Folders under which every session's workspace lies; the first one holds the default ones. */
  readonly workspaceRoots: readonly string[];
  /** Whether `create` may carry an agent spec of its own: a spec names programs to run. */
  readonly allowInlineAgents: boolean;
  /** Sessions whose state is kept in memory, at most; the least recently used goes first. Default 5,000. */
  readonly maxCachedSessions?: number;
  /** Told how many are kept, whenever that changes. */
  readonly onCached?: (sessions: number) => void;
}

/** Sessions that are kept where nothing else is set. */
export const MAX_CACHED_SESSIONS = 5_000;

export const ORCHESTRATOR_OPTIONS = Symbol('ORCHESTRATOR_OPTIONS');
