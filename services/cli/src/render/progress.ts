import { LineWriter } from './line-writer.js';
import { styleOf } from './style.js';
import type { Terminal } from './terminal.js';

/** One line that says what takes time, gone when it is done. On a terminal only. */
export class Progress {
  private readonly out: LineWriter;

  constructor(private readonly terminal: Terminal) {
    this.out = new LineWriter(terminal);
  }

  readonly say = (text: string): void => {
    const { dim, symbols } = styleOf(this.terminal);
    this.out.setStatus(dim(`${symbols.waiting} ${text}`));
  };

  done(): void {
    this.out.setStatus('');
  }
}
