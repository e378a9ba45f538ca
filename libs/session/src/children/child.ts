import { controlTools, type EventData } from '@jetloop/contracts';
import { digestOf } from '../digest.js';
import { workStep } from '../evolve/in-turn.js';
import { mayRun } from '../tools/approval.js';
import type { CallState, SessionState, TurnState } from '../state.js';

/** Milliseconds for which a parent waits for a child, unless the call says otherwise. */
export const CHILD_PATIENCE_MS = 30 * 60_000;

/** A child that a call starts, or has started. */
export interface Child {
  readonly call: CallState;
  readonly session: string;
  readonly agent: string;
  readonly prompt: string;
  /** RFC 3339: when the call was allowed. */
  readonly since: string;
  readonly patienceMs: number;
}

/** The id of the session that a call starts: a token of at most 64 characters. */
export function childSession(session: string, turn: number, step: number, n: number): string {
  const id = `${session}_${turn}_${step}_${n}`;
  return id.length <= 64 ? id : `${id.slice(0, 23)}_${digestOf(id).slice(0, 40)}`;
}

/** The child of a call, where it is one that may run. */
export function childOf(state: SessionState, turn: TurnState, call: CallState): Child | undefined {
  if (call.name !== 'spawn_agent' || !mayRun(call) || !call.decided) return undefined;
  const parsed = controlTools.spawn_agent.input.safeParse(call.decided.effective);
  if (!parsed.success || turn.phase.at !== 'step') return undefined;
  const { agent, prompt, deadlineMs = CHILD_PATIENCE_MS } = parsed.data;
  const session = childSession(state.session, turn.turn, workStep(turn), call.n);
  const since = call.approval?.decidedAt ?? call.decided.at;
  return { call, session, agent, prompt, since, patienceMs: deadlineMs };
}

/** Children of the open step whose end is not known yet. */
export function openChildren(state: SessionState): Child[] {
  const { turn } = state;
  if (turn?.phase.at !== 'step') return [];
  const calls = turn.phase.step.answer?.calls ?? [];
  return calls.filter(({ settled }) => !settled).flatMap((call) => childOf(state, turn, call) ?? []);
}

/** The open call of `session` that the child session was created for; undefined when it is none of this parent's. */
export function openCallOf(state: SessionState, child: string): Child | undefined {
  return openChildren(state).find(({ session }) => session === child);
}

type Budget = NonNullable<EventData<'tool.call'>['reserved']>;

/** What open children hold back from the budgets. */
export function reservedBy(state: SessionState): { readonly tokens: number; readonly cost: number } {
  const held = openChildren(state).map(({ call }) => call.decided?.reserved ?? {});
  return {
    tokens: held.reduce((total, { tokens = 0 }) => total + tokens, 0),
    cost: held.reduce((total, { cost = 0 }) => total + cost, 0),
  };
}

/** What a new child gets of the budgets: what its call asks for, at most what is left; half of that by default. */
export function reserve(state: SessionState, effective: unknown): Budget | undefined {
  const parsed = controlTools.spawn_agent.input.safeParse(effective);
  if (!parsed.success) return undefined;
  const { tokens, cost } = state.agent.budgets;
  const held = reservedBy(state);
  const asked = parsed.data.budget ?? {};
  const share = (left: number, wish: number | undefined) => Math.max(0, Math.min(left, wish ?? left / 2));
  const budget: Budget = {};
  if (tokens !== undefined) budget.tokens = Math.floor(share(tokens - state.used.tokens - held.tokens, asked.tokens));
  else if (asked.tokens !== undefined) budget.tokens = asked.tokens;
  if (cost !== undefined) budget.cost = share(cost - (state.used.cost ?? cost) - held.cost, asked.cost);
  else if (asked.cost !== undefined) budget.cost = asked.cost;
  return Object.keys(budget).length > 0 ? budget : undefined;
}
