import type { Usage } from '@jetloop/contracts';
import type { Prices } from '../catalogue/catalogue.js';

/** USD of a usage; null where the target's prices are not known: never 0 for what is unknown. */
export function costOf(usage: Usage | undefined, prices: Prices | undefined): number | null {
  if (!usage || !prices) return null;
  const { input, cacheRead, cacheWrite, output } = usage;
  return (
    (input * prices.input + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output) /
    1_000_000
  );
}

/** The sum, or null when one of the parts is unknown. */
export function sumOf(costs: readonly (number | null | undefined)[]): number | null {
  return costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + (cost ?? 0)), 0);
}
