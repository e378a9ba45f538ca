/** Settings of the orchestrator. */
export interface OrchestratorOptions {
  /** Folders under which every session's workspace lies; the first one holds the default ones. */
  readonly workspaceRoots: readonly string[];
  /** Whether `create` may carry an agent spec of its own: a spec names programs to run. */
  readonly allowInlineAgents: boolean;
}

export const ORCHESTRATOR_OPTIONS = Symbol('ORCHESTRATOR_OPTIONS');
