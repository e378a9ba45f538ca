import colors from 'picocolors';
import type { Terminal } from './terminal.js';

type Paint = (text: string) => string;

/** Few colours, each with one meaning: green for done, red for failed, yellow for refused or waiting, dim for what is secondary. */
export interface Style {
  readonly done: Paint;
  readonly failed: Paint;
  readonly refused: Paint;
  readonly name: Paint;
  readonly dim: Paint;
  readonly symbols: Symbols;
}

export interface Symbols {
  readonly done: string;
  readonly failed: string;
  readonly refused: string;
  readonly prompt: string;
  readonly note: string;
  readonly waiting: string;
  readonly more: string;
  readonly dot: string;
}

const UNICODE: Symbols = {
  done: '✓',
  failed: '✗',
  refused: '⊘',
  prompt: '›',
  note: '+',
  waiting: '◌',
  more: '…',
  dot: '·',
};
const PLAIN: Symbols = {
  done: '+',
  failed: 'x',
  refused: '!',
  prompt: '>',
  note: '+',
  waiting: '~',
  more: '...',
  dot: '|',
};

/** How things look on a terminal. */
export function styleOf({ color, unicode = true }: Terminal): Style {
  const { green, red, yellow, bold, dim } = colors.createColors(color);
  return { done: green, failed: red, refused: yellow, name: bold, dim, symbols: unicode ? UNICODE : PLAIN };
}
