/** A duration in milliseconds for people: `12 ms`, `1.2 s`, `2 min 05 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** A whole number with groups of three: `12,345`. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** `1 step`, `2 steps`. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** US dollars; null is a price that nobody knows. */
export function cost(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  if (usd === 0) return '$0';
  return usd < 0.0001 ? '< $0.0001' : `$${usd.toFixed(4)}`;
}

/** A text on one line, at most so many characters wide; what was cut shows as the mark. */
export function oneLine(text: string, width: number, mark = '…'): string {
  return cut(clean(text).replaceAll(/\s+/g, ' ').trim(), width, mark);
}

/** The beginning of a line, at most so many characters wide. */
export function cut(text: string, width: number, mark = '…'): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  return `${characters.slice(0, Math.max(0, width - mark.length)).join('')}${mark}`;
}

/** Lines of a text, broken between words so that none is wider, except for a word that is. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [''];
    for (const word of line.split(' ')) {
      const last = lines.at(-1) ?? '';
      if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return lines;
  });
}

/**
 * Text that others wrote (models, tools, files), safe to show: without escape sequences and other control characters, which
 * could change what a terminal shows. Line feeds and tabs stay.
 */
export function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(ESCAPE_SEQUENCE, '').replaceAll(CONTROL, '');
}

/** Built from text: a pattern literal may not hold control characters. */
const ESC = '\\u001b';
const ESCAPE_SEQUENCE = new RegExp(
  `${ESC}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)|[@-Z\\\\^_])`,
  'gu',
);
const CONTROL = /(?![\n\t])\p{Cc}/gu;
