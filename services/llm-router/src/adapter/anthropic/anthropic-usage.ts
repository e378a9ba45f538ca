import type { Usage } from '@jetloop/contracts';
import type { AnthropicUsage } from './anthropic-frame.js';

/** A later frame replaces what it gives; what it leaves out stands. */
export function laterUsage(earlier: AnthropicUsage | undefined, later: AnthropicUsage): AnthropicUsage {
  const given = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(given) };
}

/** Anthropic's counts are disjoint already; output holds the thinking. undefined: nothing was counted. */
export function usageOf(counted: AnthropicUsage | undefined): Usage | undefined {
  if (!counted) return undefined;
  const { input_tokens: input, output_tokens: output } = counted;
  if (typeof input !== 'number' && typeof output !== 'number') return undefined;
  const usage: Usage = {
    input: input ?? 0,
    cacheRead: counted.cache_read_input_tokens ?? 0,
    cacheWrite: counted.cache_creation_input_tokens ?? 0,
    output: output ?? 0,
  };
  return typeof input === 'number' && typeof output === 'number' ? usage : { ...usage, estimated: 'missing' };
}
