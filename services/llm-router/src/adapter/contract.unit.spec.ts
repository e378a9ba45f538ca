import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ContentBlock } from '@jetloop/contracts';
import fc from 'fast-check';
import {
  isWhole,
  LAST_CHUNK,
  rawChunk,
  rawHead,
  startFaultServer,
  STREAM_HEAD,
  wireAnswer,
  wireOf,
  type FaultServer,
  type FaultStep,
  type ReplayServer,
  type WireAnswer,
} from '@jetloop/testing';
import { attempt, errorOf, providerServer, requestTo, textOf } from './adapter-driver.fixture.spec.js';

const DIALECTS = ['chat', 'anthropic', 'google'] as const;
const BOTH = [true, false];
const usage = { input: 10, cacheRead: 4, output: 5 };
const weather = { id: 'call_1', name: 'weather', arguments: '{"city":"Lisbon"}' };

let provider: ReplayServer;
let faults: FaultServer;
beforeAll(async () => {
  provider = await providerServer({ strict: true });
  faults = await startFaultServer();
});
afterAll(() => Promise.all([provider.stop(), faults.stop()]));

describe.each(DIALECTS)('every adapter of a wire keeps the contract: %s', (dialect) => {
  const ask = (target: Record<string, unknown> = {}, more = {}) =>
    requestTo(provider, { target: { dialect, ...target }, ...more });
  const say = async (answer: WireAnswer, stream = true) => {
    provider.respond(wireAnswer(dialect, answer, stream));
    return attempt(ask({ stream }));
  };
  const fault = async (steps: readonly FaultStep[], target = {}) => {
    faults.plan(steps);
    return attempt(requestTo(faults, { target: { dialect, ...target } }));
  };
  const calls = (content: readonly ContentBlock[]) => content.filter((block) => block.type === 'tool-call');

  it.each(BOTH)('the model that served is told, streamed: %s', async (stream) => {
    const { assembled } = await say({ text: 'Hi', finish: 'stop', usage }, stream);
    expect(assembled.model).toEqual({ target: 'main', provider: 'test', model: 'chat-text', served: 'served-1' });
  });

  it('an answer without a count says nothing of usage', async () => {
    expect((await say({ text: 'Hi', finish: 'stop' }, false)).assembled.usage).toBeUndefined();
  });

  it('a later count replaces an earlier one', async () => {
    const wire = wireOf(dialect);
    const chunks = [wire.begin({ input: 25, output: 1 }), wire.usage({ input: 25, output: 1 }), wire.text('Hi')];
    provider.respond({ chunks: [...chunks, wire.end('stop', { input: 25, output: 15 })] });
    expect((await attempt(ask())).assembled.usage).toEqual({ input: 25, cacheRead: 0, cacheWrite: 0, output: 15 });
  });

  it('comments, line ends and single bytes change nothing', async () => {
    const whole = (wireAnswer(dialect, { text: 'One 空', calls: [weather], finish: 'tool-calls', usage }).chunks ?? [])
      .filter((chunk) => typeof chunk === 'string')
      .join('');
    const framings = [
      whole.replaceAll('\n', '\r\n'),
      whole.replaceAll('\n', '\r'),
      `: ping\n\n${whole.replaceAll('\n\n', '\r\n\r\n: ping\r\n\r\n')}`,
      whole.replaceAll('data: ', 'data:'),
      whole.trimEnd(),
    ];
    const expected = (await fault([STREAM_HEAD, rawChunk(whole), LAST_CHUNK])).assembled;
    expect(expected.end).toEqual({ finish: 'tool-calls' });
    for (const text of framings) {
      const bytes = [...Buffer.from(text)].map((byte) => rawChunk(Uint8Array.of(byte)));
      const { assembled } = await fault([STREAM_HEAD, ...bytes, LAST_CHUNK]);
      expect(assembled).toEqual(expected);
    }
  });

  it.each<[string, object]>([
    ['overloaded as the first frame', { code: 'overloaded' }],
    ['overloaded after lifecycle frames', { code: 'overloaded' }],
    ['overloaded after text', { code: 'overloaded' }],
    ['a broken line', { code: 'protocol' }],
    ['a frame without its shape', { code: 'protocol' }],
    ['the end of the body without the end of the answer', { code: 'incomplete_stream', retryable: true }],
  ])('%s', async (name, expected) => {
    const wire = wireOf(dialect);
    const before = [wire.begin(), wire.text('Hi')];
    const chunks: Record<string, string[]> = {
      'overloaded as the first frame': [wire.overloaded()],
      'overloaded after lifecycle frames': [wire.begin(), wire.overloaded()],
      'overloaded after text': [...before, wire.overloaded()],
      'a broken line': [...before, 'data: {"choices":[{"de\n\n'],
      'a frame without its shape': [...before, 'data: {"choices":{},"candidates":1,"type":"content_block_delta"}\n\n'],
      'the end of the body without the end of the answer': before,
    };
    provider.respond({ chunks: chunks[name] ?? [] });
    const answered = await attempt(ask());
    expect(errorOf(answered)).toMatchObject(expected);
    expect(textOf(answered)).toBe(chunks[name]?.includes(before[1] ?? '') ? 'Hi' : '');
  });

  it.each<[string, readonly FaultStep[], string[]]>([
    ['a reset before the head', [{ end: 'reset' }], ['network']],
    ['a close before the head', [{ end: 'fin' }], ['network']],
    ['half a head', ['HTTP/1.1 200 OK\r\ncontent-ty', { end: 'fin' }], ['network']],
    ['what is no HTTP', ['SSH-2.0-OpenSSH\r\n', { end: 'fin' }], ['network']],
    ['a cut in a chunk', [STREAM_HEAD, '40\r\ndata: {', { end: 'fin' }], ['incomplete_stream', 'network']],
    ['a broken chunk size', [STREAM_HEAD, 'zz\r\n', { end: 'fin' }], ['network', 'incomplete_stream']],
    [
      'a body shorter than it says',
      [rawHead({ headers: { 'content-length': '500' } }), '{"a', { end: 'fin' }],
      ['incomplete_stream', 'network'],
    ],
    ['a reset in the body', [STREAM_HEAD, rawChunk(': ping\n\n'), { end: 'reset' }], ['network', 'incomplete_stream']],
    ['an empty body', [rawHead({ headers: { 'content-length': '0' } })], ['incomplete_stream']],
    ['a page', [rawHead({ headers: { 'content-length': '13' } }), '<html></html>'], ['protocol']],
    ['a redirect', [rawHead({ status: 302, headers: { location: '/', 'content-length': '0' } })], ['protocol']],
  ])('%s is one error', async (_name, steps, codes) => {
    for (const stream of BOTH) expect(codes).toContain(errorOf(await fault(steps, { stream })).code);
  });

  it('random faults: exactly one end, last', async () => {
    const wire = wireOf(dialect);
    const body = Buffer.from(
      wire.begin() + wire.text('Once upon a time') + wire.call(weather) + wire.end('stop', usage),
    );
    const cut = fc.record({
      at: fc.array(fc.integer({ min: 0, max: body.length }), { maxLength: 4 }),
      noise: fc.constantFrom('', ': ping\n\n', '\n', 'data: {\n\n', 'data: null\n\n', 'event: error\n\n', '\0'),
      end: fc.constantFrom<FaultStep>(LAST_CHUNK, { end: 'fin' }, { end: 'reset' }, { end: 'hang' }),
      stops: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cut, async ({ at, noise, end, stops }) => {
        const cuts = [0, ...at].sort((a, b) => a - b);
        const pieces = cuts.map((from, n) => body.subarray(from, cuts[n + 1] ?? (stops ? from : body.length)));
        const steps = pieces.flatMap((piece) => [rawChunk(piece), ...(noise === '' ? [] : [rawChunk(noise)])]);
        const said = steps.filter((step) => step.length > rawChunk('').length);
        // attempt() throws unless the parts have one end, the last.
        await fault([STREAM_HEAD, ...said, end], { firstTokenTimeout: 1_000, idleTimeout: 500, requestTimeout: 5_000 });
      }),
      { numRuns: isWhole ? 40 : 12 },
    );
  });

  it('a complete answer stays one, whatever becomes of its connection', async () => {
    for (const end of ['reset', 'fin', 'hang'] as const) {
      const wire = wireOf(dialect);
      const body = wire.begin() + wire.text('Hi') + wire.end('stop', usage);
      const started = performance.now();
      const answered = await fault([STREAM_HEAD, rawChunk(body.replace('data: [DONE]\n\n', '')), { end }]);
      expect(answered.assembled.end).toEqual({ finish: 'stop' });
      expect(textOf(answered)).toBe('Hi');
      expect(performance.now() - started).toBeLessThan(20_000);
      await faults.closeOf(faults.requests.at(-1)?.connection ?? -1, 20_000);
    }
  });

  it.each<[string, (text: string) => readonly FaultStep[], object]>([
    ['first-token', () => [STREAM_HEAD, rawChunk(': ping\n\n')], { firstTokenTimeout: 100 }],
    ['idle', (text) => [STREAM_HEAD, rawChunk(text)], { idleTimeout: 100 }],
    ['request', () => [], { requestTimeout: 100 }],
  ])('%s timeout, and the socket is closed', async (phase, steps, target) => {
    const wire = wireOf(dialect);
    const error = errorOf(await fault(steps(wire.begin() + wire.text('Hi')), target));
    expect(error).toMatchObject({ code: 'timeout', phase, retryable: false });
    const close = await faults.closeOf(faults.requests.at(-1)?.connection ?? -1, 20_000);
    expect(close.by).toBe('client');
  });

  it.each(['before the head', 'in the middle'])('an abort %s closes the socket', async (when) => {
    const wire = wireOf(dialect);
    const text = rawChunk(wire.begin({ input: 7, output: 1 }) + wire.text('Once upon a time'));
    faults.plan(when === 'in the middle' ? [STREAM_HEAD, text] : []);
    const controller = new AbortController();
    if (when === 'before the head')
      setTimeout(() => {
        controller.abort();
      }, 50);
    const answered = await attempt(requestTo(faults, { target: { dialect } }), {
      signal: controller.signal,
      onPart: ({ kind }) => {
        if (kind === 'text') controller.abort();
      },
    });
    expect(errorOf(answered)).toMatchObject({ code: 'aborted', retryable: false });
    expect(textOf(answered)).toBe(when === 'in the middle' ? 'Once upon a time' : '');
    // A first count is not what was used.
    if (answered.assembled.usage) expect(answered.assembled.usage).toMatchObject({ estimated: 'aborted', output: 4 });
    const close = await faults.closeOf(faults.requests.at(-1)?.connection ?? -1, 20_000);
    expect(close.by).toBe('client');
  });

  it('an abort before the call makes no request', async () => {
    const before = provider.requests.length;
    const answered = await attempt(ask(), { signal: AbortSignal.abort() });
    expect(errorOf(answered).code).toBe('aborted');
    expect(provider.requests).toHaveLength(before);
  });

  it.each<[number, string, object]>([
    [400, 'unknown field', { code: 'bad_request', retryable: false }],
    [400, 'prompt is too long: 213462 tokens > 200000 maximum', { code: 'context_overflow' }],
    [401, 'no', { code: 'auth' }],
    [403, 'no', { code: 'auth' }],
    [404, 'no such model', { code: 'model_not_found' }],
    [413, 'too large', { code: 'request_too_large' }],
    [429, 'slow down', { code: 'rate_limited', retryable: true, retryAfterMs: 1_500 }],
    [500, 'oops', { code: 'server_error', retryable: false }],
    [503, 'busy', { code: 'overloaded', retryable: true }],
    [529, 'busy', { code: 'overloaded', retryable: true }],
  ])('%d %s', async (status, message, expected) => {
    const headers = { 'retry-after': '1.5' };
    for (const stream of BOTH) {
      provider.respond({ ...wireOf(dialect).refusal(status, message), ...(status === 429 ? { headers } : {}) });
      expect(errorOf(await attempt(ask({ stream })))).toMatchObject({ ...expected, status, message });
    }
  });

  it('an error object in a 200 is that error', async () => {
    const { body = '' } = wireOf(dialect).refusal(429, 'slow down', 'rate_limit_error');
    for (const stream of BOTH) {
      provider.respond({ body });
      expect(errorOf(await attempt(ask({ stream })))).toMatchObject({ code: 'rate_limited', message: 'slow down' });
    }
  });

  it('a whole body to a streaming request is read all the same', async () => {
    provider.respond(wireAnswer(dialect, { text: 'Whole', finish: 'stop', usage }, false));
    expect(textOf(await attempt(ask()))).toBe('Whole');
  });

  it('an error holds no text of the request and no key', async () => {
    const canary = 'Which colour has the sky?';
    const message = `Bad input: "${canary}" for key SECRET-KEY-9`;
    provider.respond(wireOf(dialect).refusal(400, message));
    const error = errorOf(await attempt(ask({ apiKeyEnv: 'K' }), { env: { K: 'SECRET-KEY-9' } }));
    expect(error.message).toContain('Bad input: "[…]');
    for (const secret of [canary, 'colour', 'SECRET']) expect(JSON.stringify(error)).not.toContain(secret);
  });

  it('a key goes with the request, and without one no header for it', async () => {
    for (const key of ['KEY-1', undefined]) {
      provider.respond(wireAnswer(dialect, { text: 'Hi', finish: 'stop', usage }));
      await attempt(ask(key === undefined ? {} : { apiKeyEnv: 'K' }), { env: { K: key } });
      const { authorization, 'x-api-key': own, 'x-goog-api-key': google } = provider.requests.at(-1)?.headers ?? {};
      expect([authorization, own, google].filter((value) => value !== undefined)).toEqual(
        key === undefined ? [] : [dialect === 'chat' ? `Bearer ${key}` : key],
      );
    }
    const before = provider.requests.length;
    const error = errorOf(await attempt(ask({ apiKeyEnv: 'NOT_SET' })));
    expect(error).toMatchObject({ code: 'auth', message: expect.stringContaining('NOT_SET') });
    expect(provider.requests).toHaveLength(before);
  });

  it('tools, their names, temperature and the cap are in the request', async () => {
    provider.respond(
      wireAnswer(dialect, { calls: [{ ...weather, name: 'files_read_5d1a6a7bf6a5' }], finish: 'tool-calls', usage }),
    );
    const tools = [{ name: 'files.read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } }];
    const { assembled } = await attempt(ask({ maxTokens: 77 }, { tools, temperature: 0.25 }));
    const sent = JSON.stringify(provider.requests.at(-1)?.body);
    expect(sent).toMatch(/"files_read_[0-9a-f]{12}"/);
    expect(sent).not.toContain('files.read');
    expect(sent).toContain('77');
    expect(sent).toContain('0.25');
    const wireName = /"(files_read_[0-9a-f]{12})"/.exec(sent)?.[1] ?? '';
    provider.respond(wireAnswer(dialect, { calls: [{ ...weather, name: wireName }], finish: 'tool-calls', usage }));
    const again = await attempt(ask({}, { tools }));
    expect(calls(again.assembled.content)).toMatchObject([{ name: 'files.read' }]);
    expect(calls(assembled.content)).toHaveLength(1);
  });

  it('object mode asks for the schema, and tells of no tools', async () => {
    const schema = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] };
    const tools = [{ name: 'grep', description: 'Finds.', inputSchema: { type: 'object' } }];
    provider.respond(wireAnswer(dialect, { text: '{"colour":"blue"}', finish: 'stop', usage }));
    const answered = await attempt(ask({}, { output: { schema }, tools }));
    expect(textOf(answered)).toBe('{"colour":"blue"}');
    const sent = JSON.stringify(provider.requests.at(-1)?.body);
    expect(sent).toContain('"colour"');
    expect(sent).not.toContain('grep');
    expect(sent).not.toContain('"tools"');
  });
});
