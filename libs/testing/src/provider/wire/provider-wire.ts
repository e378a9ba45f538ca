import type { PlannedResponse } from '../planned-response.js';
import type { ReplayDialect } from '../replay-fixture.js';

export type WireFinish = 'stop' | 'tool-calls' | 'max-tokens' | 'content-filter';
/** Disjoint buckets; a dialect writes them in its own way. */
export interface WireUsage {
  readonly input: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output: number;
}
export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** JSON of an object. */
  readonly arguments: string;
  /** google: the thought signature of the call. */
  readonly signature?: string;
}
export interface WireReasoning {
  readonly text: string;
  readonly signature?: string;
  /** anthropic: a block that nobody may read, in place of text and signature. */
  readonly redacted?: string;
}

/**
 * One answer as a provider of a dialect writes it: every method gives the events of one piece, as text of a stream. One
 * object for one answer, since some dialects number their pieces.
 */
export interface ProviderWire {
  readonly dialect: ReplayDialect;
  /** What comes before anything is said: alive, but no content. Some dialects give a first count here. */
  begin(usage?: WireUsage): string;
  text(text: string): string;
  reasoning(reasoning: WireReasoning): string;
  call(call: WireCall): string;
  /** A count that is not the last. */
  usage(usage: WireUsage): string;
  /** The protocol's own end, with usage if it is given. */
  end(finish: WireFinish, usage?: WireUsage): string;
  /** What the provider writes in the middle of a stream when it cannot go on. */
  overloaded(): string;
  /** A whole body. */
  whole(answer: WireAnswer): string;
  /** An error answer. */
  refusal(status: number, message: string, code?: string): PlannedResponse;
}

/** All that an answer says, in the order in which it is said. */
export interface WireAnswer {
  readonly reasoning?: readonly WireReasoning[];
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly finish: WireFinish;
  readonly usage?: WireUsage;
}
