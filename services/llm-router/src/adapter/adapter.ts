import type { DerivedMessage } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import type { Part, ToolSchema } from './part.js';

/** One model call of a step, the same for every dialect. */
export interface ModelRequest {
  readonly target: Target;
  readonly systemPrompt: string;
  readonly messages: readonly DerivedMessage[];
  readonly tools: readonly ToolSchema[];
  /** From the agent spec; the target's own settings stand behind them. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Whether the model is asked to think; undefined: as the target says. */
  readonly thinking?: boolean;
  readonly output?: { readonly schema: Record<string, unknown> };
  /** The repair of a 400 about reasoning state: nothing of it is sent. */
  readonly withoutReasoningState?: boolean;
  /** Facts for the scripted dialect: the n-th model call of the turn (from 1). */
  readonly step: number;
}

/**
 * A dialect: makes one HTTP request and yields its parts; the last one is exactly one `finish` or `error`. It never
 * throws, never retries, and closes the connection within a second after the signal aborts (an `error` of code `aborted`).
 */
export interface Adapter {
  attempt(request: ModelRequest, signal: AbortSignal): AsyncIterable<Part>;
}
