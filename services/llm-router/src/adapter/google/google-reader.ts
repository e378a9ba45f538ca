import type { LlmError, Usage } from '@jetloop/contracts';
import { AttemptFailure } from '../http/attempt-failure.js';
import { errorFacts } from '../http/error-facts.js';
import { llmError } from '../http/provider-error.js';
import type { FrameReader } from '../sdk/sdk-dialect.js';
import { googleFrameSchema, googlePartSchema, type GooglePart, type GoogleUsage } from './google-frame.js';
import { laterUsage, usageOf } from './google-usage.js';

/** Reads the chunks of one answer of the Gemini API. A whole body has the shape of a chunk. */
export class GoogleReader implements FrameReader {
  readonly reasons: string[] = [];
  refused = false;
  /** There is no last frame: usage may follow the end, and then the body ends. */
  readonly isOver = false;
  served: string | undefined;
  private counted: GoogleUsage | undefined;

  constructor(private readonly providerError: (body: unknown) => LlmError) {}

  get isFinished(): boolean {
    return this.reasons.length > 0 || this.refused;
  }

  get hasUsage(): boolean {
    return this.counted !== undefined;
  }

  get usage(): Usage | undefined {
    return usageOf(this.counted);
  }

  frame(value: unknown): readonly object[] {
    const frame = googleFrameSchema.safeParse(value);
    const isAnswer = typeof value === 'object' && value !== null && ANSWER_FIELDS.some((field) => field in value);
    const failure = !isAnswer || hasError(value) ? errorFacts(value) : undefined;
    if (failure) throw new AttemptFailure(this.providerError(value));
    if (!frame.success || !isAnswer) throw protocolFailure('a frame');
    const { candidates, promptFeedback, usageMetadata, modelVersion } = frame.data;
    if (modelVersion) this.served = modelVersion;
    if (usageMetadata) this.counted = laterUsage(this.counted, usageMetadata);
    if (isBlocked(promptFeedback?.blockReason)) this.refused = true;
    const candidate = candidates?.find(({ index }) => (index ?? 0) === 0);
    if (candidate?.finishReason && candidate.finishReason !== 'FINISH_REASON_UNSPECIFIED')
      this.reasons.push(candidate.finishReason);
    const parts = (candidate?.content?.parts ?? []).flatMap(partOf);
    return parts.length > 0 ? [{ candidates: [{ content: { role: 'model', parts } }] }] : [];
  }

  framesOf(whole: unknown): readonly unknown[] {
    return Array.isArray(whole) ? whole : [whole];
  }
}

const ANSWER_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata'] as const;

function partOf(value: Record<string, unknown>): GooglePart[] {
  const part = googlePartSchema.safeParse(value);
  if (part.success) return [part.data];
  if ('functionCall' in value || 'text' in value) throw protocolFailure('a part');
  return [];
}

function isBlocked(reason: string | null | undefined): boolean {
  return typeof reason === 'string' && reason !== '' && !/^BLOCK(?:ED)?_REASON_UNSPECIFIED$/.test(reason);
}

function hasError(value: object): boolean {
  return 'error' in value && value.error !== null && value.error !== undefined;
}

function protocolFailure(what: string): AttemptFailure {
  return new AttemptFailure(llmError('protocol', `${what} is no part of an answer of the Gemini API`));
}
