import { cut, plural } from './format.js';
import { styleOf } from './style.js';
import type { Terminal } from './terminal.js';

export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** There were more rows than these. */
  readonly truncated?: boolean;
}

/** Narrower than this no column is cut. */
const MIN_WIDTH = 8;

/** Writes an aligned table and the number of its rows. Numbers stand to the right; on a terminal wide columns are cut. */
export function renderTable(table: TableData, terminal: Terminal): void {
  for (const line of tableLines(table, terminal)) terminal.write(`${line}\n`);
}

/** The lines of a table. */
export function tableLines({ columns, rows, truncated }: TableData, terminal: Terminal): string[] {
  const { dim, name, symbols } = styleOf(terminal);
  const cells = rows.map((row) => row.map(cellText));
  const natural = columns.map((column, index) =>
    Math.max(width(column), ...cells.map((row) => width(row[index] ?? ''))),
  );
  const widths = terminal.columns === undefined ? natural : fit(natural, terminal.columns);
  const isNumber = columns.map((_, index) => rows.length > 0 && rows.every((row) => isNumeric(row[index])));
  const lay = (texts: readonly string[]) =>
    texts.map((text, index) => {
      const column = widths[index] ?? 0;
      const shown = cut(text, column, symbols.more);
      const padding = ' '.repeat(Math.max(0, column - width(shown)));
      return isNumber[index] ? padding + shown : shown + padding;
    });
  const more = truncated ? `, and more that were not read` : '';
  return [
    name(lay(columns).join('  ').trimEnd()),
    dim(widths.map((column) => (symbols.more === '…' ? '─' : '-').repeat(column)).join('  ')),
    ...cells.map((row) => lay(row).join('  ').trimEnd()),
    dim(`(${plural(rows.length, 'row')}${more})`),
  ];
}

/** A value on one line; null is empty. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(/\p{Cc}/gu, '?');
}

function isNumeric(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'bigint';
}

function width(text: string): number {
  return Array.from(text).length;
}

/** Takes from the widest columns until all fit. */
function fit(natural: readonly number[], total: number): number[] {
  const widths = [...natural];
  const sum = () => widths.reduce((all, one) => all + one, 0) + 2 * (widths.length - 1);
  while (sum() > total) {
    const widest = widths.indexOf(Math.max(...widths));
    const current = widths[widest] ?? 0;
    if (current <= MIN_WIDTH) break;
    widths[widest] = current - 1;
  }
  return widths;
}
