import { MAX_RAW_FINISH_REASON, type Attempt, type ContentBlock, type LlmReply } from '@jetloop/contracts';
import { sumOf } from '../routing/cost.js';
import type { Routed } from '../routing/route-options.js';

/**
 * What a routed job is to the session. `usage` is that of the answering attempt, `cost` the sum of all.
 * @param earlier attempts that deferred replies reported: in the log already, and part of the cost
 * @param nowMs milliseconds since the epoch
 */
export function toResult(routed: Routed, earlier: readonly Attempt[], nowMs: number): LlmReply['result'] {
  const attempts = [...routed.attempts];
  const cost = sumOf([...earlier, ...attempts].filter(({ usage }) => usage).map((attempt) => attempt.cost ?? null));
  switch (routed.kind) {
    case 'answer': {
      const { said, finish: finishReason, usage } = routed.tried;
      const { content, model, rawFinish } = said;
      const raw = rawFinish === undefined ? {} : { rawFinishReason: rawFinish.slice(0, MAX_RAW_FINISH_REASON) };
      return { status: 'ok', content, finishReason, ...raw, model, usage, cost, attempts };
    }
    case 'deferred': {
      const until = new Date(nowMs + routed.waitMs).toISOString();
      return { status: 'deferred', deferred: { until, reason: routed.reason, attempts } };
    }
    case 'error': {
      const { error, tried } = routed;
      if (error.code !== 'aborted' || !tried) return { status: 'error', error, cost, attempts };
      const { said, attempt } = tried;
      const usage = attempt.usage ? { usage: attempt.usage } : {};
      return { status: 'error', error, content: saidIn(said.content), model: said.model, ...usage, cost, attempts };
    }
  }
}

/** Of a cut answer its words stay: half a call must not run, and the state of half a thought is worth nothing. */
function saidIn(content: readonly ContentBlock[]): ContentBlock[] {
  return content.flatMap((block): ContentBlock[] => {
    if (block.type === 'text') return [block];
    return block.type === 'reasoning' ? [{ type: 'reasoning', text: block.text }] : [];
  });
}
