import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk';
import type { FrameOutput } from './frame-output.js';

/**
 * JSON-RPC lines as the SDK's connection takes them. At the end of input the connection is closed only after what was asked
 * before has been answered: somebody may write a request and close the pipe behind it.
 * @param settled resolves once no request is being answered
 */
export function frameStream(
  input: AsyncIterable<Uint8Array>,
  output: FrameOutput,
  settled: () => Promise<void>,
): Stream {
  return ndJsonStream(output.sink, ReadableStream.from(untilSettled(input, settled)));
}

async function* untilSettled(
  input: AsyncIterable<Uint8Array>,
  settled: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield* input;
  // A last line may lack its end. What was read becomes requests within this turn of the loop, answers are written in the next.
  yield Buffer.from('\n');
  await turnOfLoop();
  await settled();
  await turnOfLoop();
}
