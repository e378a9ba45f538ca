import { terminalOf, type Terminal } from './render/terminal.js';

/** What a command uses of its process. */
export interface CommandIo {
  /** Results. */
  readonly out: Terminal;
  /** What is said to a person beside the results: progress and errors. */
  readonly err: Terminal;
  readonly input: AsyncIterable<Uint8Array>;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  /** Calls the listener when the person presses ^C, until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
}

/** The real process. */
export function processIo(): CommandIo {
  return {
    out: terminalOf(process.stdout),
    err: terminalOf(process.stderr),
    input: process.stdin,
    env: process.env,
    folder: process.cwd(),
    onInterrupt: (listener) => {
      process.on('SIGINT', listener).on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener).off('SIGTERM', listener);
      };
    },
  };
}

/** Writes a value as one line of JSON. */
export function writeJson({ out }: Pick<CommandIo, 'out'>, value: unknown): void {
  out.write(`${JSON.stringify(value)}\n`);
}
