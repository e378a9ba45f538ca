import type { Terminal } from './terminal.js';

/** Writes lines and streamed text to a terminal, with at most one blank line between blocks and one line of status below. */
export class LineWriter {
  private isLineStart = true;
  private isBlank = true;
  private status = '';

  constructor(private readonly terminal: Terminal) {}

  /** A whole line. */
  line(text: string): void {
    this.endLine();
    this.put(`${text}\n`);
    this.isBlank = text === '';
  }

  /** A piece of running text, written as it is. */
  stream(text: string): void {
    if (text === '') return;
    this.put(text);
    this.isLineStart = text.endsWith('\n');
    this.isBlank = false;
  }

  /** Ends a line that streamed text left open. */
  endLine(): void {
    if (!this.isLineStart) this.put('\n');
    this.isLineStart = true;
  }

  /** One blank line before what comes next. */
  gap(): void {
    this.endLine();
    if (!this.isBlank) this.line('');
  }

  /** What is being done right now: on a terminal only, gone with the next line. Not in the middle of a line. */
  setStatus(text: string): void {
    if (!this.terminal.isTTY || !this.isLineStart || text === this.status) return;
    this.clearStatus();
    if (text !== '') this.terminal.write(text);
    this.status = text;
  }

  private put(text: string): void {
    this.clearStatus();
    this.terminal.write(text);
  }

  private clearStatus(): void {
    if (this.status !== '') this.terminal.write(ERASE_LINE);
    this.status = '';
  }
}

/** To the first column, and erase to the end of the line. */
const ERASE_LINE = '\r\u001b[K';
