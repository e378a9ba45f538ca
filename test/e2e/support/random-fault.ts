import fc from 'fast-check';
import {
  LAST_CHUNK,
  rawChunk,
  rawHead,
  STREAM_HEAD,
  wireOf,
  type FaultStep,
  type ReplayDialect,
} from '@jetloop/testing';

const usage = { input: 10, output: 5 };
const TEXT = 'Once upon a time, in Düsseldorf 🌊, there was';
const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Lisbon"}' };

/** One answer that goes wrong somewhere, or not at all. */
export interface RandomFault {
  readonly stream: boolean;
  /** Whether another target follows, which answers. */
  readonly hasFallback: boolean;
  readonly steps: readonly FaultStep[];
}

/** Answers of a dialect that were cut by their length, further cut into chunks at any byte, with noise between them, that end in any way. */
export function randomFault(dialect: ReplayDialect): fc.Arbitrary<RandomFault> {
  const wire = wireOf(dialect);
  const streamed = wire.begin() + wire.text(TEXT) + wire.call(call) + wire.end('max-tokens', usage);
  const whole = wireOf(dialect).whole({ text: TEXT, calls: [call], finish: 'max-tokens', usage });
  return fc
    .record({
      stream: fc.boolean(),
      hasFallback: fc.boolean(),
      status: fc.constantFrom(200, 200, 200, 200, 302, 400, 503),
      // Of the body, in millionths.
      cuts: fc.array(fc.nat(1_000_000), { maxLength: 4 }),
      noise: fc.constantFrom(
        '',
        '',
        ': ping\n\n',
        '\n',
        '\r',
        'data: {\n\n',
        'data: null\n\n',
        'event: error\n\n',
        '\0',
      ),
      stops: fc.boolean(),
      end: fc.constantFrom<FaultStep>(LAST_CHUNK, { end: 'fin' }, { end: 'reset' }, { end: 'hang' }),
    })
    .map(({ stream, hasFallback, status, cuts, noise, stops, end }) => {
      const body = Buffer.from(stream ? streamed : whole);
      const places = cuts.map((cut) => Math.floor((cut * body.length) / 1_000_000)).sort((a, b) => a - b);
      const pieces = [0, ...places].map((from, n) => body.subarray(from, places[n] ?? (stops ? from : body.length)));
      const said = pieces.flatMap((piece) => [piece, Buffer.from(noise)]).filter(({ length }) => length > 0);
      const plain = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const head = stream && status === 200 ? STREAM_HEAD : rawHead({ status, headers: plain });
      return { stream, hasFallback, steps: [head, ...said.map((piece) => rawChunk(piece)), end] };
    });
}
