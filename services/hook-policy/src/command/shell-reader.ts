import { decodeAnsiC } from './ansi-c.js';
import { UnanalysableError, type Word } from './word.js';

const MAX_DEPTH = 20;
const MAX_LENGTH = 64 * 1024;
const redirect = /&>>|&>|<&|>&|>\||<>|>>|<|>/y;
const arithmetic = /\$\(\([0-9+\-*/%<>=!&|^~?:,\s]*\)\)/y;
const usualParameter =
  /^[#!]?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[(?:[@*]|\d+)\])?(?:$|:?[-=+?][\s\S]*|%%?[\s\S]*|##?[\s\S]*|\/[\s\S]*|\^\^?[\s\S]*|,,?[\s\S]*|:\d+(?::\d+)?)$/;

interface HereDocument {
  delimiter: string;
  literal: boolean;
  stripTabs: boolean;
}

/**
 * Splits a bash command line into the words of its simple commands, those in substitutions too. Where bash would need the
 * run to know what follows, or where reading it wrongly could hide a command, it throws instead of guessing.
 */
export class ShellReader {
  readonly commands: Word[][] = [];
  private at = 0;
  private pending: HereDocument[] = [];

  constructor(
    private readonly text: string,
    private readonly depth = 0,
  ) {
    if (text.includes('\0')) throw new UnanalysableError('a NUL character');
    if (text.length > MAX_LENGTH) throw new UnanalysableError(`longer than ${MAX_LENGTH} characters`);
    if (depth > MAX_DEPTH) throw new UnanalysableError(`more than ${MAX_DEPTH} levels of nesting`);
  }

  /** All simple commands of the text. @throws UnanalysableError */
  read(): Word[][] {
    this.readList(false);
    return this.commands;
  }

  private readList(nested: boolean): void {
    let words: Word[] = [];
    let open = 0;
    const flush = (): void => {
      if (words.length > 0) this.commands.push(words);
      words = [];
    };
    while (this.at < this.text.length) {
      const c = this.text.charAt(this.at);
      const next = this.text.charAt(this.at + 1);
      if (c === '\\' && next === '\n') this.at += 2;
      else if (c === ' ' || c === '\t') this.at++;
      else if (c === '\n') {
        this.at++;
        flush();
        this.readHereDocuments();
      } else if (c === '#') this.skipComment();
      else if (c === '(') {
        if (next === '(') throw new UnanalysableError('an arithmetic command');
        flush();
        open++;
        this.at++;
      } else if (c === ')') {
        flush();
        this.at++;
        if (nested && open === 0) return;
        open--;
      } else if (c === ';' || c === '|' || (c === '&' && next !== '>')) {
        this.at++;
        flush();
      } else if ((c === '&' || c === '<' || c === '>') && !(c !== '&' && next === '(')) this.readRedirect();
      else {
        const word = this.readWord();
        if (!this.isDescriptorOfRedirect(word)) words.push(word);
      }
    }
    if (nested) throw new UnanalysableError('a substitution that does not end');
    flush();
  }

  private isDescriptorOfRedirect(word: Word): boolean {
    const c = this.text.charAt(this.at);
    return (c === '<' || c === '>') && /^(?:\d+|\{\w+\})$/.test(word.raw);
  }

  private skipComment(): void {
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  private readRedirect(): void {
    if (this.text.startsWith('<<<', this.at)) {
      this.at += 3;
      this.readTarget();
    } else if (this.text.startsWith('<<', this.at)) {
      this.at += 2;
      const stripTabs = this.text.charAt(this.at) === '-';
      if (stripTabs) this.at++;
      const word = this.readTarget();
      if (word.opaque) throw new UnanalysableError('a here-document with an expansion in its delimiter');
      this.pending.push({ delimiter: word.text, literal: word.raw !== word.text, stripTabs });
    } else {
      redirect.lastIndex = this.at;
      this.at += redirect.exec(this.text)?.[0].length ?? 1;
      this.readTarget();
    }
  }

  private readTarget(): Word {
    for (;;) {
      if (this.text.startsWith('\\\n', this.at)) this.at += 2;
      else if (this.text.charAt(this.at) === ' ' || this.text.charAt(this.at) === '\t') this.at++;
      else break;
    }
    const before = this.at;
    const word = this.readWord();
    if (this.at === before) throw new UnanalysableError('a redirection without a target');
    return word;
  }

  private readHereDocuments(): void {
    const documents = this.pending;
    this.pending = [];
    for (const { delimiter, literal, stripTabs } of documents) {
      const lines: string[] = [];
      for (;;) {
        if (this.at >= this.text.length) throw new UnanalysableError('a here-document that does not end');
        const end = this.text.indexOf('\n', this.at);
        const line = this.text.slice(this.at, end < 0 ? undefined : end);
        this.at = end < 0 ? this.text.length : end + 1;
        if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) break;
        // A continued line could make up the delimiter; bash joins it, so nobody can tell by looking at lines.
        if (!literal && line.endsWith('\\')) throw new UnanalysableError('a continued line in a here-document');
        lines.push(line);
      }
      if (!literal) this.readInside(lines.join('\n'), (reader) => reader.readDouble(undefined));
    }
  }

  /** Reads a part of its own text; the commands found in it count as ours. */
  private readInside(text: string, read: (reader: ShellReader) => void): void {
    const inner = new ShellReader(text, this.depth + 1);
    read(inner);
    this.commands.push(...inner.commands);
  }

  private readWord(): Word {
    let text = '';
    let raw = '';
    let bare = '';
    const parts: { opaque: boolean }[] = [];
    const take = (part: { text: string; opaque: boolean }, from: number): void => {
      text += part.text;
      raw += this.text.slice(from, this.at);
      // Marks what was quoted: it is no glob and no brace, but braces may stand around it.
      bare += '\u0001';
      parts.push(part);
    };
    for (; this.at < this.text.length;) {
      const from = this.at;
      const c = this.text.charAt(from);
      const next = this.text.charAt(from + 1);
      if (' \t\n;&|()'.includes(c)) break;
      if (c === '<' || c === '>') {
        if (next !== '(') break;
        this.at += 2;
        this.readNested();
        take({ text: '', opaque: true }, from);
      } else if (c === '\\') {
        this.at += 2;
        if (next !== '\n') take({ text: next, opaque: false }, from);
      } else if (c === "'") take({ text: this.readSingle(1), opaque: false }, from);
      else if (c === '"') {
        this.at++;
        take(this.readDouble('"'), from);
      } else if (c === '$') {
        const part = this.readDollar(false);
        take(part, from);
      } else if (c === '`') {
        this.readBackticks(false);
        take({ text: '', opaque: true }, from);
      } else {
        this.at++;
        text += c;
        raw += c;
        bare += c;
      }
    }
    const expands = /[*?]|\[[\s\S]*\]|\{[\s\S]*(?:,|\.\.)[\s\S]*\}/.test(bare);
    return { text, raw, opaque: parts.some((part) => part.opaque) || expands };
  }

  private readSingle(openLength: number, escapes = false): string {
    const from = this.at + openLength;
    let end = from;
    while (end < this.text.length && this.text.charAt(end) !== "'") {
      end += escapes && this.text.charAt(end) === '\\' ? 2 : 1;
    }
    if (end >= this.text.length) throw new UnanalysableError('a quote that does not end');
    this.at = end + 1;
    return this.noLineWhilePending(this.text.slice(from, end));
  }

  /** Up to the closing quote, which is taken; without one (a here-document) up to the end. */
  private readDouble(close: '"' | undefined): { text: string; opaque: boolean } {
    let text = '';
    let opaque = false;
    for (;;) {
      if (this.at >= this.text.length) {
        if (close) throw new UnanalysableError('a quote that does not end');
        return { text, opaque };
      }
      const c = this.text.charAt(this.at);
      const next = this.text.charAt(this.at + 1);
      if (c === close) {
        this.at++;
        return { text: this.noLineWhilePending(text), opaque };
      }
      if (c === '\\' && next !== '' && '$`"\\\n'.includes(next)) {
        if (next !== '\n') text += next;
        this.at += 2;
      } else if (c === '$') {
        const part = this.readDollar(true);
        text += part.text;
        opaque ||= part.opaque;
      } else if (c === '`') {
        this.readBackticks(true);
        opaque = true;
      } else {
        text += c;
        this.at++;
      }
    }
  }

  private noLineWhilePending(text: string): string {
    if (this.pending.length > 0 && text.includes('\n')) throw new UnanalysableError('a line feed in quotes after <<');
    return text;
  }

  private readDollar(quoted: boolean): { text: string; opaque: boolean } {
    const expansion = { text: '', opaque: true };
    const next = this.text.charAt(this.at + 1);
    if (next === '(') {
      arithmetic.lastIndex = this.at;
      const plain = arithmetic.exec(this.text);
      if (plain) this.at += plain[0].length;
      else if (this.text.charAt(this.at + 2) === '(') throw new UnanalysableError('an arithmetic expansion with names');
      else {
        this.at += 2;
        this.readNested();
      }
      return expansion;
    }
    if (next === '{') return this.readParameter();
    if (next === '[') throw new UnanalysableError('an arithmetic expansion');
    if (next === "'" && !quoted) return { text: decodeAnsiC(this.readSingle(2, true)), opaque: false };
    if (next === '"' && !quoted) {
      this.at += 2;
      return this.readDouble('"');
    }
    const name = /^\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(this.text.slice(this.at, this.at + 256));
    this.at += name ? name[0].length : 1;
    return name ? expansion : { text: '$', opaque: false };
  }

  private readParameter(): { text: string; opaque: boolean } {
    const from = this.at + 2;
    this.at = from;
    for (;;) {
      if (this.at >= this.text.length) throw new UnanalysableError('an expansion that does not end');
      const c = this.text.charAt(this.at);
      if (c === '}') break;
      if (c === '\\') this.at += 2;
      else if (c === '$') this.readDollar(true);
      else if (c === '`') this.readBackticks(true);
      else if (c === '"' || c === "'") throw new UnanalysableError('quotes inside a parameter expansion');
      else this.at++;
    }
    const content = this.text.slice(from, this.at);
    if (!usualParameter.test(content) || /[@][A-Za-z]$/.test(content)) {
      throw new UnanalysableError(`the parameter expansion \${${content}}`);
    }
    this.at++;
    return { text: '', opaque: true };
  }

  private readNested(): void {
    if (this.pending.length > 0) throw new UnanalysableError('a substitution after <<');
    const inner = new ShellReader(this.text, this.depth + 1);
    inner.at = this.at;
    inner.readList(true);
    if (inner.pending.length > 0) throw new UnanalysableError('a here-document that ends outside its substitution');
    this.at = inner.at;
    this.commands.push(...inner.commands);
  }

  private readBackticks(quoted: boolean): void {
    const from = this.at + 1;
    let end = from;
    while (end < this.text.length && this.text.charAt(end) !== '`') end += this.text.charAt(end) === '\\' ? 2 : 1;
    if (end >= this.text.length) throw new UnanalysableError('backticks that do not end');
    this.at = end + 1;
    const content = this.text.slice(from, end).replace(quoted ? /\\([\\$`"])/g : /\\([\\$`])/g, '$1');
    this.readInside(content, (reader) => reader.read());
  }
}
