import { PassThrough } from 'node:stream';
import type { CommandIo } from '../command-io.js';
import { recordingTerminal } from './entries.js';

/** The process of a command for tests: nothing but what is given, and what it wrote. */
export function recordingIo(io: Partial<CommandIo> = {}): { io: CommandIo; out: () => string; err: () => string } {
  const out = recordingTerminal();
  const err = recordingTerminal();
  const all: CommandIo = {
    out: out.terminal,
    err: err.terminal,
    input: inputOf(''),
    env: {},
    folder: '/',
    onInterrupt: () => () => undefined,
    takePipes: () => ({ input: all.input, output: new PassThrough(), end: () => undefined }),
    ...io,
  };
  return { io: all, out: out.written, err: err.written };
}

/** Standard input that holds a text. */
export async function* inputOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}
