import type {
  AgentSpec,
  Attempt,
  ContentBlock,
  EventData,
  FinishReason,
  InputBlock,
  Json,
  PolicyContext,
  Source,
  TurnEnd,
  Usage,
} from '@jetloop/contracts';
import type { HarnessState } from './harness/harness-state.js';

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
  readonly schemaHash: string;
}

/** A question to a person about one call. `outcome` is absent while it is open. */
export interface ApprovalState {
  readonly approvalId: string;
  readonly expiresAt: string;
  /** Of the policies that asked; absent for a question of the model (`ask_user`). */
  readonly policyVersion?: string;
  readonly outcome?: 'approved' | 'rejected' | 'expired' | 'cancelled';
  readonly by?: string;
  readonly note?: string;
  /** RFC 3339: when it was decided. */
  readonly decidedAt?: string;
}

/** Why a policy refused a call: by its decision, or by failing. */
export interface Denial {
  readonly policy: string;
  readonly decision: 'deny' | 'failed';
  readonly reason: string;
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
    /** `spawn_agent`: held back from the budgets. */
    readonly reserved?: EventData<'tool.call'>['reserved'];
  };
  /** Set by `policy.decided` before the call is recorded as denied. */
  readonly denial?: Denial;
  /** Set by `approval.requested`: the call waits, or waited, for a person. */
  readonly approval?: ApprovalState;
  /** Questions about this call that were asked before. */
  readonly asked: number;
  /** The policies are asked again: they or the tool changed while a person thought. `decided` stands. */
  readonly reevaluating?: boolean;
  /** Set by `tool.result`. */
  readonly settled?: { readonly context: readonly PolicyContext[] };
}

/** One model call and its tools. `answer` is absent while the model is asked. */
export interface StepState {
  readonly step: number;
  /** What the model reads up to: the start of the step, or the end of a compaction in it. */
  readonly sequence: number;
  readonly at: string;
  readonly answer?: { readonly finishReason: FinishReason; readonly calls: readonly CallState[] };
  /** Contexts of post-tool policies that joined behind the last result. */
  readonly contextsAdded: number;
  /** An external agent drives this step. */
  readonly harness?: HarnessState;
}

/** A compaction that a policy or an overflow asked for. It is `wanted` while policies may object, then `running`. */
export interface CompactionState {
  readonly stage: 'wanted' | 'running';
  readonly trigger: 'policy' | 'overflow';
  readonly step: number;
  /** Compactions that were wanted before in this step. */
  readonly before: number;
  /** Position of the event of this stage. */
  readonly sequence: number;
  /** RFC 3339. */
  readonly at: string;
  readonly range?: EventData<'compaction.start'>['range'];
}

/** Where an open turn stands. */
export type TurnPhase =
  | { readonly at: 'prompts'; readonly pending: readonly string[] }
  | { readonly at: 'between-steps' }
  | { readonly at: 'step'; readonly step: StepState }
  /** `asks`: policies are asked whether it goes on; `decided` is what came of it. */
  | {
      readonly at: 'after-step';
      readonly default: 'continue' | 'stop';
      /** The answer ended early: steering waits for the next step or turn. */
      readonly isCut: boolean;
      readonly asks: boolean;
      /** RFC 3339. */
      readonly endedAt: string;
      readonly decided?: 'continue' | 'stop';
    };

/** Work that a worker asked to be called again for. */
export interface Deferral {
  readonly what: string;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  readonly until: string;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
}

/** Policies that are asked about a session that was created, forked or resumed. No turn begins before their answer. */
export interface StartState {
  readonly source: 'startup' | 'resume' | 'fork';
  readonly sequence: number;
  /** RFC 3339. */
  readonly at: string;
}

/** How long the conversation is that the model sees, in characters, and where it may be cut: behind complete pairs. */
export interface ConversationSize {
  readonly characters: number;
  readonly cuts: readonly { readonly sequence: number; readonly characters: number }[];
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
  /** Messages that joined or were turned away since the turn began: what pre-step policies saw is outdated by each. */
  readonly disposed: number;
  /** Continuations in a row that policies forced. */
  readonly forced: number;
  /** The step before which pre-step policies were answered though no step began yet. */
  readonly preStepped?: number;
  readonly compaction?: CompactionState;
  /** The last compaction that was wanted, whatever came of it. */
  readonly lastCompaction?: CompactionState;
  readonly sawMaxTokens: boolean;
  readonly sawRefusal: boolean;
  readonly output?: { schema: Record<string, unknown> };
  readonly failure?: { readonly step: number; readonly code: string; readonly message: string };
  /** `closes`: the session closes with the turn. */
  readonly cancelling?: { readonly reason: string; readonly at: string; readonly closes?: string };
}

/** What is kept of a message for the session's life. `cancelled`: a cancel named it before it came. */
export interface KnownMessage {
  readonly digest: string;
  readonly sequence: number;
  readonly cancelled?: boolean;
}

/** Tokens of all buckets, and USD: null once a price was unknown. */
export interface Used {
  readonly tokens: number;
  readonly cost: number | null;
  /** The tokens by bucket. */
  readonly usage: Usage;
}

/** Everything that decisions about a session need; derived from its events alone. */
export interface SessionState {
  readonly tenant: string;
  readonly session: string;
  readonly status: 'open' | 'closed';
  readonly agent: AgentSpec;
  readonly workspace: string;
  readonly mode?: string;
  /** The call of another session that this one was created for. */
  readonly parent?: { readonly session: string; readonly callId: string };
  readonly start?: StartState;
  /** The command that created it. */
  readonly createdBy: string;
  readonly nextSequence: number;
  /** Number of the last turn begun; 0 before the first. */
  readonly turns: number;
  readonly turn?: TurnState;
  /** How the last turn ended, and the text of its last answer. */
  readonly lastEnd?: { readonly reason: TurnEnd; readonly sequence: number };
  readonly lastAnswer?: readonly ContentBlock[];
  /** Children that did not end in time, with the turn that gave them up: each is sent its end. */
  readonly givenUp: readonly { readonly session: string; readonly turn: number }[];
  readonly deferrals: readonly Deferral[];
  readonly conversation: ConversationSize;
  readonly queue: readonly QueuedMessage[];
  /** Every message id ever accepted, with the digest of its content and the position that accepted it. */
  readonly messages: ReadonlyMap<string, KnownMessage>;
  /** Every approval ever asked for, by its id, with what was decided and the position that decided it. */
  readonly approvals: ReadonlyMap<string, { readonly outcome?: ApprovalState['outcome']; readonly sequence: number }>;
  readonly tools?: { readonly digest: string; readonly byName: ReadonlyMap<string, ToolFacts> };
  /** Tokens of all buckets and USD over all model calls; cost is null once a price was unknown. */
  readonly used: Used;
  /** The commands that the open turn and the one before were decided by: the position of the first event of each, by id. */
  readonly causations: {
    readonly current: ReadonlyMap<string, number>;
    readonly previous: ReadonlyMap<string, number>;
  };
}

/** The position of the first event that this command made, as far back as the turn before the open one; undefined: none. */
export function firstEventOf({ causations }: SessionState, commandId: string): number | undefined {
  return causations.current.get(commandId) ?? causations.previous.get(commandId);
}
