import { expect, it } from '@jest/globals';
import { recordingTerminal } from '../testing/entries.js';
import { tableLines } from './table.js';

const plain = recordingTerminal().terminal;

it('aligns text to the left and numbers to the right; null is empty', () => {
  const columns = ['name', 'tokens', 'cost'];
  const rows = [
    ['read_file', 1200, null],
    ['bash', 7, 0.5],
  ];
  expect(tableLines({ columns, rows }, plain)).toEqual([
    'name       tokens  cost',
    '─────────  ──────  ────',
    'read_file    1200',
    'bash            7   0.5',
    '(2 rows)',
  ]);
});

it('keeps a row on one line and shows values as JSON', () => {
  const lines = tableLines({ columns: ['a', 'b'], rows: [['x\ny', { z: [1] }]] }, plain);
  expect(lines[2]).toBe('x\\ny  {"z":[1]}');
});

it('cuts the widest column to the terminal, and no column elsewhere', () => {
  const table = { columns: ['id', 'text'], rows: [['s1', 'a'.repeat(50)]] };
  const { terminal } = recordingTerminal({ isTTY: true, columns: 20 });
  expect(tableLines(table, terminal)[2]).toBe(`s1  ${'a'.repeat(15)}…`);
  expect(tableLines(table, plain)[2]).toBe(`s1  ${'a'.repeat(50)}`);
});

it('says when there was more', () => {
  expect(tableLines({ columns: ['a'], rows: [[1]], truncated: true }, plain).at(-1)).toBe(
    '(1 row, and more that were not read)',
  );
});
