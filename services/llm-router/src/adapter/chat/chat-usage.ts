import type { Usage } from '@jetloop/contracts';
import { z } from 'zod';
import { tokenCount as count } from '../token-count.js';

export const chatUsageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
  /** DeepSeek's name of the cached part of the prompt. */
  prompt_cache_hit_tokens: count,
});
export type ChatUsage = z.output<typeof chatUsageSchema>;

/**
 * Disjoint buckets of what a chat provider counted: input without what the cache gave, output with reasoning, which is
 * added where the total counts it beside the completion (xAI). undefined: nothing was counted.
 */
export function usageOf(counted: ChatUsage): Usage | undefined {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = counted;
  if (typeof prompt !== 'number' && typeof completion !== 'number') return undefined;
  const input = prompt ?? rest(total, completion);
  const said = completion ?? rest(total, prompt);
  const reasoning = counted.completion_tokens_details?.reasoning_tokens ?? 0;
  const beside = (total ?? 0) - (input ?? 0) - (said ?? 0);
  const output = (said ?? 0) + (reasoning > 0 && beside >= reasoning ? reasoning : 0);
  const hit = counted.prompt_tokens_details?.cached_tokens ?? counted.prompt_cache_hit_tokens ?? 0;
  const cacheRead = Math.min(hit, input ?? hit);
  const usage = { input: (input ?? hit) - cacheRead, cacheRead, cacheWrite: 0, output };
  return input === undefined || said === undefined ? { ...usage, estimated: 'missing' } : usage;
}

/** A later frame replaces an earlier one; what it leaves out stands. */
export function laterUsage(earlier: ChatUsage | undefined, later: ChatUsage): ChatUsage {
  const isComplete = typeof later.prompt_tokens === 'number' && typeof later.completion_tokens === 'number';
  if (!earlier || isComplete) return later;
  const given = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return chatUsageSchema.parse({ ...earlier, total_tokens: undefined, ...Object.fromEntries(given) });
}

function rest(total: number | null | undefined, part: number | null | undefined): number | undefined {
  return typeof total === 'number' && typeof part === 'number' && total >= part ? total - part : undefined;
}
