import type { CallState } from '../state.js';

/** Readonly calls that run side by side, at most. */
export const MAX_PARALLEL_CALLS = 10;

/** Whether the call can run at all: its tool is known and its arguments parse. */
export function isRunnable(call: CallState): boolean {
  return call.facts !== undefined && call.parsed.ok;
}

/**
 * Calls of a step in groups, in call order: a run of readonly calls, or one other call. A group begins when all calls of
 * the one before it have results (spec 2.3, 7).
 */
export function groupsOf(calls: readonly CallState[]): CallState[][] {
  const groups: CallState[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    const joins = last !== undefined && last.length < MAX_PARALLEL_CALLS && runsBeside(last[0]) && runsBeside(call);
    if (joins) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** The first group that has a call without a result. */
export function currentGroup(calls: readonly CallState[]): readonly CallState[] | undefined {
  return groupsOf(calls).find((group) => group.some((call) => call.settled === undefined));
}

function runsBeside(call: CallState | undefined): boolean {
  return call !== undefined && isRunnable(call) && call.facts?.readonly === true;
}
