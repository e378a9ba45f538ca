const FIRST_MS = 1_000;
const MAX_MS = 30_000;

/**
 * Milliseconds after which work that is over a limit comes back: about a second at first, doubling, spread widely so that
 * what was turned away together does not come back together.
 * @param attempt of the work, from 1
 */
export function limitDelay(attempt: number, random: () => number): number {
  return Math.round((0.5 + random()) * Math.min(MAX_MS, FIRST_MS * 2 ** (attempt - 1)));
}
