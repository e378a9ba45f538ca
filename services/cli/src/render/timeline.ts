import type { SessionEntry } from '@jetloop/client';
import { essentials } from './essentials.js';
import { count, oneLine } from './format.js';
import { styleOf, type Style } from './style.js';
import type { Terminal } from './terminal.js';

/** Where no width is known, a line of an event is cut here. */
const WIDTH_ELSEWHERE = 160;

/** Writes one line an event: milliseconds from the first one, sequence, type, essentials. */
export function renderTimeline(entries: readonly SessionEntry[], terminal: Terminal): void {
  for (const line of timelineLines(entries, terminal)) terminal.write(`${line}\n`);
}

/** The lines of a timeline, aligned. */
export function timelineLines(entries: readonly SessionEntry[], terminal: Terminal): string[] {
  const style = styleOf(terminal);
  const start = Date.parse(entries.at(0)?.at ?? '');
  const rows = entries.map(({ event, at }) => ({
    event,
    offset: `+${count(Date.parse(at) - start)} ms`,
    sequence: String(event.sequence),
  }));
  const widthOf = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const offsetWidth = widthOf(rows.map(({ offset }) => offset));
  const sequenceWidth = widthOf(rows.map(({ sequence }) => sequence));
  const typeWidth = widthOf(rows.map(({ event }) => event.type));
  const room = Math.max(20, (terminal.columns ?? WIDTH_ELSEWHERE) - offsetWidth - sequenceWidth - typeWidth - 6);
  return rows.map(({ event, offset, sequence }) =>
    eventLine(event, `${offset.padStart(offsetWidth)}  ${sequence.padStart(sequenceWidth)}`, typeWidth, room, style),
  );
}

/** Widths of a line that is written before the next ones are known. */
const SEQUENCE_WIDTH = 5;
const TYPE_WIDTH = 18;
const TIME_WIDTH = 12;

/** The line of an event that came just now: time of day (UTC), sequence, type, essentials. */
export function arrivalLine({ event, at }: SessionEntry, terminal: Terminal): string {
  const room = Math.max(
    20,
    (terminal.columns ?? WIDTH_ELSEWHERE) - TIME_WIDTH - SEQUENCE_WIDTH - Math.max(TYPE_WIDTH, event.type.length) - 6,
  );
  const left = `${at.slice(11, 11 + TIME_WIDTH)}  ${String(event.sequence).padStart(SEQUENCE_WIDTH)}`;
  return eventLine(event, left, TYPE_WIDTH, room, styleOf(terminal));
}

function eventLine(event: SessionEntry['event'], left: string, typeWidth: number, room: number, style: Style): string {
  const text = oneLine(essentials(event), room, style.symbols.more);
  const padding = text === '' ? '' : ' '.repeat(Math.max(0, typeWidth - event.type.length) + 2);
  return `${style.dim(left)}  ${paint(event, style)(event.type)}${padding}${text}`;
}

function paint({ type, data }: SessionEntry['event'], style: Style): (text: string) => string {
  if (type === 'policy.decided' || type === 'prompt.blocked' || type.startsWith('approval.')) return style.refused;
  if (type === 'turn.error' || (type === 'tool.result' && isFailed(data))) return style.failed;
  if (type.startsWith('turn.') || type.startsWith('session.')) return style.name;
  return (text) => text;
}

function isFailed(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'isError' in data && data.isError === true;
}
