import type { AgentSpec, Attempt, FinishReason, InputBlock, Json, PolicyContext, Source } from '@jetloop/contracts';

/** A message that was accepted and has no disposition yet. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly lane: 'turn' | 'step' | 'inject';
  readonly content: readonly InputBlock[];
  readonly source: Source;
  readonly output?: { schema: Record<string, unknown> };
  /** RFC 3339, of the commit that queued it. */
  readonly at: string;
}

/** What the log says of a tool. */
export interface ToolFacts {
  readonly readonly: boolean;
  readonly idempotent: boolean;
}

/** A question to a person about one call. `outcome` is absent while it is open. */
export interface ApprovalState {
  readonly approvalId: string;
  readonly expiresAt: string;
  readonly outcome?: 'approved' | 'rejected' | 'expired' | 'cancelled';
  /** RFC 3339: when it was decided. */
  readonly decidedAt?: string;
}

/** A tool call of the model's answer, on its way from asked to settled. */
export interface CallState {
  readonly n: number;
  readonly callId: string;
  readonly name: string;
  /** The model's raw text. */
  readonly arguments: string;
  /** Parsed, or why it does not parse. */
  readonly parsed:
    { readonly ok: true; readonly value: Record<string, Json> } | { readonly ok: false; readonly problem: string };
  /** Absent: the session has no tool of that name. */
  readonly facts?: ToolFacts;
  /** Set by `tool.call`. */
  readonly decided?: {
    readonly decision: 'allow' | 'deny' | 'ask';
    readonly effective: Record<string, Json> | null;
    readonly sequence: number;
    readonly at: string;
  };
  /** Set by `approval.requested`: the call waits, or waited, for a person. */
  readonly approval?: ApprovalState;
  /** Set by `tool.result`. */
  readonly settled?: { readonly context: readonly PolicyContext[] };
}

/** One model call and its tools. `answer` is absent while the model is asked. */
export interface StepState {
  readonly step: number;
  readonly sequence: number;
  readonly at: string;
  readonly answer?: { readonly finishReason: FinishReason; readonly calls: readonly CallState[] };
}

/** Where an open turn stands. */
export type TurnPhase =
  | { readonly at: 'prompts'; readonly pending: readonly string[] }
  | { readonly at: 'between-steps' }
  | { readonly at: 'step'; readonly step: StepState }
  | { readonly at: 'after-step'; readonly goesOn: boolean };

/** Work that a worker asked to be called again for. */
export interface Deferral {
  readonly what: string;
  readonly step: number;
  readonly attempt: number;
  readonly until: string;
  readonly attempts: readonly Attempt[];
}

/** The open turn. */
export interface TurnState {
  readonly turn: number;
  readonly sequence: number;
  readonly startedAt: string;
  readonly phase: TurnPhase;
  /** Messages of this turn that passed. */
  readonly allowed: number;
  readonly lastBlock?: string;
  /** Model calls begun. */
  readonly steps: number;
  /** Calls recorded in this turn. */
  readonly calls: number;
  /** Begun to inject context, with no model call of its own. */
  readonly isInjection: boolean;
  /** Steering joined since the last step began. */
  readonly steered: boolean;
  /** The tool list was answered in this turn. */
  readonly listed: boolean;
  readonly deferrals: readonly Deferral[];
  readonly sawMaxTokens: boolean;
  readonly sawRefusal: boolean;
  readonly output?: { schema: Record<string, unknown> };
  readonly failure?: { readonly step: number; readonly code: string; readonly message: string };
  /** `closes`: the session closes with the turn. */
  readonly cancelling?: { readonly reason: string; readonly at: string; readonly closes?: string };
}

/** Everything that decisions about a session need; derived from its events alone. */
export interface SessionState {
  readonly tenant: string;
  readonly session: string;
  readonly status: 'open' | 'closed';
  readonly agent: AgentSpec;
  readonly workspace: string;
  /** The command that created it. */
  readonly createdBy: string;
  readonly nextSequence: number;
  /** Number of the last turn begun; 0 before the first. */
  readonly turns: number;
  readonly turn?: TurnState;
  readonly queue: readonly QueuedMessage[];
  /** Every message id ever accepted, with the digest of its content and the position that accepted it. */
  readonly messages: ReadonlyMap<string, { readonly digest: string; readonly sequence: number }>;
  /** Every approval ever asked for, by its id, with what was decided and the position that decided it. */
  readonly approvals: ReadonlyMap<string, { readonly outcome?: ApprovalState['outcome']; readonly sequence: number }>;
  readonly tools?: { readonly digest: string; readonly byName: ReadonlyMap<string, ToolFacts> };
  /** Tokens of all buckets and USD over all model calls; cost is null once a price was unknown. */
  readonly used: { readonly tokens: number; readonly cost: number | null };
  /** Ids of the commands that the open turn and the one before were decided by. */
  readonly causations: { readonly current: ReadonlySet<string>; readonly previous: ReadonlySet<string> };
}

/** Whether this command was decided already, as far back as the turn before the open one. */
export function wasDecided(state: SessionState, commandId: string): boolean {
  return state.causations.current.has(commandId) || state.causations.previous.has(commandId);
}
