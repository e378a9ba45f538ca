import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { LlmError, Usage } from '@jetloop/contracts';
import type { ModelRequest } from '../adapter.js';
import type { AnswerProgress } from '../http/next-bytes.js';

/**
 * Reads the frames of one answer before the SDK sees them: what the SDK must not decide (end, usage, errors) is read here,
 * and only frames that it knows go on.
 */
export interface FrameReader extends AnswerProgress {
  /** What goes on to the SDK in place of a frame. @throws AttemptFailure */
  frame(value: unknown): readonly object[];
  /** A whole body as the frames of a stream. @throws AttemptFailure when it is no answer */
  framesOf(whole: unknown): readonly unknown[];
  /** The protocol's last frame was seen: nothing more is read. */
  readonly isOver: boolean;
  /** All that the provider gave as its finish reason. */
  readonly reasons: readonly string[];
  readonly refused: boolean;
  readonly usage: Usage | undefined;
  readonly served: string | undefined;
}

export interface ModelSettings {
  readonly baseUrl: string | undefined;
  readonly model: string;
  /** undefined: the target has none, and the request carries none. */
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Options of a call that depend on the dialect; prompt and tools are the same for all. */
export type DialectOptions = Pick<
  LanguageModelV4CallOptions,
  'temperature' | 'reasoning' | 'providerOptions' | 'responseFormat'
>;

/** How a provider's SDK is asked, and how its protocol reads on the wire. */
export interface SdkDialect {
  /** The name of the dialect, and of its options and metadata in the SDK. */
  readonly name: 'anthropic' | 'google';
  model(settings: ModelSettings): LanguageModelV4;
  options(request: ModelRequest, isThinking: boolean): DialectOptions;
  reader(providerError: (body: unknown) => LlmError): FrameReader;
  /** The streaming request that the SDK makes as one for a whole body. */
  asWhole(request: { readonly url: string; readonly body: string }): { readonly url: string; readonly body: string };
}
