import { isKnownEvent, type RecordedEvent, type TurnEnd, type UnknownEvent } from '@jetloop/contracts';
import type { SessionEntry } from '@jetloop/client';
import { cost, count, duration, plural } from './format.js';

/** What a turn used. */
export interface TurnTotals {
  readonly steps: number;
  readonly toolCalls: number;
  readonly denied: number;
  readonly tokens: { readonly input: number; readonly output: number };
  /** USD; null where a price is unknown. */
  readonly cost: number | null;
  readonly durationMs: number;
  readonly reason: TurnEnd | undefined;
}

/** Sums up the entries of a turn, in order. */
export function totalsOf(entries: readonly SessionEntry[]): TurnTotals {
  const events = entries.map(({ event }) => event).filter((event) => isKnownEvent(event));
  const calls = of(events, 'tool.call');
  const answers = of(events, 'assistant.message');
  const first = entries.at(0)?.at;
  const last = entries.at(-1)?.at;
  return {
    steps: of(events, 'step.start').length,
    toolCalls: calls.length,
    denied: calls.filter(({ data }) => data.decision === 'deny').length,
    tokens: {
      input: sum(answers.map(({ data: { usage } }) => (usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0))),
      output: sum(answers.map(({ data: { usage } }) => usage?.output ?? 0)),
    },
    cost: answers.some(({ data }) => data.cost === null) ? null : sum(answers.map(({ data }) => data.cost ?? 0)),
    durationMs: first === undefined || last === undefined ? 0 : Date.parse(last) - Date.parse(first),
    reason: of(events, 'turn.end').at(-1)?.data.reason,
  };
}

/** The parts of the line below a turn. */
export function describeTotals(totals: TurnTotals): string[] {
  const { steps, toolCalls, denied, tokens } = totals;
  const calls = plural(toolCalls, 'tool call') + (denied === 0 ? '' : ` (${denied} denied)`);
  return [
    plural(steps, 'step'),
    calls,
    `${count(tokens.input)} tokens in, ${count(tokens.output)} out`,
    cost(totals.cost),
    duration(totals.durationMs),
  ];
}

type Known<T extends RecordedEvent['type']> = Extract<RecordedEvent, { type: T }>;

function of<T extends RecordedEvent['type']>(events: readonly (RecordedEvent | UnknownEvent)[], type: T): Known<T>[] {
  return events.filter((event): event is Known<T> => event.type === type);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
