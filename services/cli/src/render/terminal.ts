/** Where a command writes, and what that can show. */
export interface Terminal {
  write(text: string): void;
  /** A person watches: what happens may be shown while it happens. */
  readonly isTTY: boolean;
  readonly color: boolean;
  /** Width in characters. Default: nothing is cut to a width. */
  readonly columns?: number | undefined;
  /** Symbols outside ASCII can be shown. Default true. */
  readonly unicode?: boolean | undefined;
}

/** Node says `isTTY` and `columns` only of terminals. */
interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** A stream of the process. Colours only on a terminal, and not with NO_COLOR set or on a dumb terminal. */
export function terminalOf(stream: Stream, env: NodeJS.ProcessEnv = process.env): Terminal {
  const isTTY = stream.isTTY === true;
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const locale = env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? '';
  return {
    write: (text) => {
      stream.write(text);
    },
    isTTY,
    color: isTTY && !isPlain,
    columns: isTTY ? stream.columns : undefined,
    unicode: process.platform === 'darwin' || /utf-?8/i.test(locale),
  };
}
