import { AttemptFailure } from './attempt-failure.js';
import type { Upstream } from './upstream.js';

/** After the end of an answer and its usage only the end of the body is missing: an open socket is not waited for. */
const SILENCE_AFTER_END_MS = 500;

/** How far the frames of an answer have come. */
export interface AnswerProgress {
  /** The protocol's own end was seen. */
  readonly isFinished: boolean;
  readonly hasUsage: boolean;
}

/** A complete answer stays one, even if its connection then breaks or falls silent. */
export async function nextBytes(upstream: Upstream, progress: AnswerProgress): Promise<Uint8Array | undefined> {
  const { isFinished, hasUsage } = progress;
  try {
    return await upstream.read(isFinished && hasUsage ? SILENCE_AFTER_END_MS : undefined);
  } catch (error) {
    if (isFinished && error instanceof AttemptFailure && error.error.code !== 'aborted') return undefined;
    throw error;
  }
}
