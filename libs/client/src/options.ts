import type { AgentSpecInput, InputBlock } from '@jetloop/contracts';
import type { SessionEntry } from './events/session-entry.js';

/** A prompt's content: text, or blocks. At most 768 KiB as JSON. */
export type PromptContent = string | readonly InputBlock[];

export interface ClientOptions {
  readonly tenant: string;
  /** Who acts: a name for the audit, not a credential. */
  readonly actor: string;
}

export interface ConnectOptions extends ClientOptions {
  /** `nats://[user:password@]host:port`, several separated by commas. */
  readonly natsUrl: string;
  /** Milliseconds for the first connection; default 5,000. */
  readonly timeoutMs?: number;
}

/** What the answer of a prompt's turn shall be: one JSON value that fits a JSON Schema (2020-12). The model gets no tools. */
export interface OutputOptions {
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface CreateOptions {
  /** Default: a new id. */
  readonly session?: string;
  /** A name in AGENTS, or the spec itself where the services allow it. */
  readonly agent: { readonly name: string } | { readonly spec: AgentSpecInput };
  /** A folder under a root of the tool-runner. Default: the session's own folder there. */
  readonly workspace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The first prompt: one command creates the session and starts its first turn. */
  readonly prompt?: PromptContent;
  /** What the answer to this prompt shall be; default: what the model says. */
  readonly output?: OutputOptions;
}

export interface PromptOptions extends MessageOptions {
  /** What happens while a turn runs. Default `queue`. */
  readonly whenBusy?: 'queue' | 'reject' | 'interrupt';
  /** What the answer shall be; default: what the model says. */
  readonly output?: OutputOptions;
}

/** What a cancel reaches. */
export interface CancelOptions {
  /** Why, for the log. Default `cancelled`. */
  readonly reason?: string;
  /** RFC 3339: turns and messages that began later are left alone, those named excepted. Default: all that there is. */
  readonly asOf?: string;
  /** Messages that it is about: one of them that is still on its way is discarded when it comes. */
  readonly messageIds?: readonly string[];
}

export interface MessageOptions {
  /** Your id of the message; the same id with the same content is accepted once. Default: a new id. */
  readonly messageId?: string;
}

export interface DecideOptions {
  /** Why, for the audit; the model reads the note of a rejection. */
  readonly note?: string;
}

export interface EventsOptions {
  /** Sequence of the first event that is wanted, so that a reader goes on where it stopped. Default 0. */
  readonly from?: number;
  /** false: ends with what the journal holds now. Default true: waits for more until the signal aborts. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface TurnOptions {
  /** Sequence to read from; the one that accepted the message saves reading what came before. Default 0. */
  readonly from?: number;
  /** Gets every event on the way, the `turn.end` too. */
  readonly onEvent?: (entry: SessionEntry) => void;
  readonly signal?: AbortSignal;
}

/** A command that was accepted: the sequence of the event that accepted it. */
export interface Accepted {
  readonly session: string;
  readonly sequence: number;
}
/** An accepted prompt. */
export interface AcceptedMessage extends Accepted {
  readonly messageId: string;
}
