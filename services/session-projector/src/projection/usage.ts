import type { EventData } from '@jetloop/contracts';
import type { UsageColumns } from '@jetloop/persistence';

export const noUsage: UsageColumns = {
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost: 0,
  cost_complete: true,
};

/** Adds what a message of the model used. Where its whole cost is unknown, the known part of its attempts counts. */
export function addUsage<T extends UsageColumns>(row: T, message: EventData<'assistant.message'>): T {
  const { usage, cost, attempts } = message;
  const known = cost ?? attempts.reduce((sum, attempt) => sum + (attempt.cost ?? 0), 0);
  return {
    ...row,
    input_tokens: row.input_tokens + Math.round(usage?.input ?? 0),
    cache_read_tokens: row.cache_read_tokens + Math.round(usage?.cacheRead ?? 0),
    cache_write_tokens: row.cache_write_tokens + Math.round(usage?.cacheWrite ?? 0),
    output_tokens: row.output_tokens + Math.round(usage?.output ?? 0),
    cost: addCost(row.cost, known),
    cost_complete: row.cost_complete && cost !== null,
  };
}

/** Sums of decimal fractions in binary end in noise far behind the last digit of any price. */
function addCost(a: number, b: number): number {
  return Number((a + b).toFixed(12));
}
