import type { ModelRequest } from '../adapter.js';
import { isContent, type Part } from '../part.js';
import { AttemptFailure } from './attempt-failure.js';
import { llmError } from './provider-error.js';
import { Upstream } from './upstream.js';

/** What every attempt over HTTP has around it: the timers, exactly one end, and a connection that is let go. */
export async function* attemptShell(
  request: ModelRequest,
  signal: AbortSignal,
  parts: (upstream: Upstream) => AsyncGenerator<Part>,
): AsyncGenerator<Part> {
  const upstream = new Upstream(request.target, signal);
  try {
    for await (const part of parts(upstream)) {
      if (isContent(part)) upstream.contentCame();
      yield part;
    }
  } catch (error) {
    if (!(error instanceof AttemptFailure)) {
      // A defect here, or of an SDK; its words may hold the request, so only its name goes on.
      const name = error instanceof Error ? error.name : typeof error;
      yield { kind: 'error', error: llmError('protocol', `the adapter failed (${name})`) };
      return;
    }
    const about = error.aboutReasoningState ? { aboutReasoningState: true } : {};
    yield { kind: 'error', error: error.error, ...about };
  } finally {
    upstream.close();
  }
}
