import type { Writable } from 'node:stream';
import { AcpAgent, type AcpAgentOptions } from './acp-agent.js';
import { FrameOutput } from './frames/frame-output.js';
import { frameStream } from './frames/frame-stream.js';

export interface ServeAcpAgentOptions extends Omit<AcpAgentOptions, 'output'> {
  /** Frames of the editor. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Frames for the editor, and nothing else. */
  readonly output: Writable;
  /** Ends the serving as the end of input does. */
  readonly signal?: AbortSignal;
}

/** Milliseconds for what is unsent once the input has ended. */
const FLUSH_MS = 5_000;

/**
 * Serves sessions to an editor until its input ends or nobody reads its output any more. Turns that run go on: a later load
 * shows what came of them.
 */
export async function serveAcpAgent({ input, output, signal, ...options }: ServeAcpAgentOptions): Promise<void> {
  const frames = new FrameOutput(output);
  const agent = new AcpAgent({ ...options, output: frames });
  const connection = agent.app().connect(frameStream(input, frames, () => agent.settled()));
  const end = () => {
    connection.close();
  };
  signal?.addEventListener('abort', end);
  output.once('close', end).once('error', end);
  await connection.closed;
  signal?.removeEventListener('abort', end);
  agent.stop();
  await frames.flush(FLUSH_MS);
}
