import type { Usage } from '@jetloop/contracts';
import type { GoogleUsage } from './google-frame.js';

/** A later chunk replaces what it gives; what it leaves out stands. */
export function laterUsage(earlier: GoogleUsage | undefined, later: GoogleUsage): GoogleUsage {
  const given = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(given) };
}

/** Disjoint buckets: the prompt holds what the cache gave, thoughts stand beside the candidates. */
export function usageOf(counted: GoogleUsage | undefined): Usage | undefined {
  if (!counted) return undefined;
  const { promptTokenCount: prompt, candidatesTokenCount: said, thoughtsTokenCount: thought } = counted;
  if (typeof prompt !== 'number' && typeof said !== 'number' && typeof thought !== 'number') return undefined;
  const cacheRead = Math.min(counted.cachedContentTokenCount ?? 0, prompt ?? Infinity);
  const usage: Usage = {
    input: Math.max(0, (prompt ?? 0) - cacheRead) + (counted.toolUsePromptTokenCount ?? 0),
    cacheRead,
    cacheWrite: 0,
    output: (said ?? 0) + (thought ?? 0),
  };
  // An answer without a word has no count of candidates, and then the total is the rest; a prompt always has a count.
  const isWordless = counted.totalTokenCount === usage.input + cacheRead + usage.output;
  const isComplete = typeof prompt === 'number' && (typeof said === 'number' || isWordless);
  return isComplete ? usage : { ...usage, estimated: 'missing' };
}
