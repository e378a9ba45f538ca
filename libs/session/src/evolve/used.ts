import type { Attempt, Usage } from '@jetloop/contracts';
import type { Used } from '../state.js';

const NOTHING: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

/** What a session used before its first model call. */
export const nothingUsed: Used = { tokens: 0, cost: 0, usage: NOTHING };

/** Adds tokens and USD; a cost of null makes the sum unknown. */
export function addUsed(used: Used, usage: Usage | null, cost: number | null): Used {
  const added = sum(used.usage, usage ?? NOTHING);
  return {
    tokens: added.input + added.cacheRead + added.cacheWrite + added.output,
    cost: cost === null || used.cost === null ? null : used.cost + cost,
    usage: added,
  };
}

/** The tokens of a model call: of all its attempts, where they tell; else of the one that answered. */
export function usageOf(attempts: readonly Attempt[], answering: Usage | null): Usage | null {
  const told = attempts.flatMap(({ usage }) => usage ?? []);
  return told.length > 0 ? told.reduce(sum, NOTHING) : answering;
}

/** The price of a call that failed: null when one of its attempts used tokens at an unknown price. */
export function costOf(attempts: readonly Attempt[]): number | null {
  const used = attempts.filter(({ usage }) => usage !== undefined);
  return used.reduce<number | null>((total, { cost }) => (total === null || cost == null ? null : total + cost), 0);
}

function sum(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
  };
}
