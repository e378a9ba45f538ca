import { Writable } from 'node:stream';
import { terminalOf, type Terminal } from './render/terminal.js';

/** Standard input and output as a protocol's own. */
export interface Pipes {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
  /** Reads no more. */
  end(): void;
}

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
  /** Gives standard output to one writer: what anybody else writes to it goes to standard error from now on. */
  takePipes(): Pipes;
}

/** As a shell says it of a program that SIGPIPE ended. */
const NOBODY_READS = 141;

/** The real process. It ends quietly when nobody reads its output any more (`| head`). */
export function processIo(): CommandIo {
  process.stdout.on('error', endWithoutReader);
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
    takePipes: () => ({
      input: process.stdin,
      output: takeStdout(),
      end: () => {
        process.stdin.destroy();
      },
    }),
  };
}

function endWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(NOBODY_READS);
}

function takeStdout(): Writable {
  const { stdout, stderr } = process;
  stdout.off('error', endWithoutReader);
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const output = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      write(chunk, done);
    },
    writev: (chunks, done) => {
      write(Buffer.concat(chunks.map(({ chunk }: { chunk: Uint8Array }) => chunk)), done);
    },
  });
  stdout.on('error', (error: Error) => output.destroy(error)).on('close', () => output.destroy());
  return output;
}

/** Writes a value as one line of JSON. */
export function writeJson({ out }: Pick<CommandIo, 'out'>, value: unknown): void {
  out.write(`${JSON.stringify(value)}\n`);
}
