import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PlannedResponse, ReplayServer } from '@jetloop/testing';
import { attempt, errorOf, event, providerServer, requestTo } from '../adapter-driver.fixture.spec.js';

let server: ReplayServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.stop());

async function failureOf(response: PlannedResponse, target: Record<string, unknown> = {}) {
  server.respond(response);
  return errorOf(await attempt(requestTo(server, { target })));
}
const refusal = (status: number, error: Record<string, unknown>, headers = {}): PlannedResponse => ({
  status,
  headers,
  body: JSON.stringify({ error }),
});
const text = event({ delta: { content: 'Hi' } });

describe('an error answer', () => {
  it.each<[number, Record<string, unknown>, string, boolean]>([
    [400, { message: 'Unknown parameter', type: 'invalid_request_error' }, 'bad_request', false],
    [400, { message: 'no', code: 'context_length_exceeded' }, 'context_overflow', false],
    [400, { message: "This model's maximum context length is 8192 tokens." }, 'context_overflow', false],
    [422, { message: 'prompt is too long: 213462 tokens > 200000 maximum' }, 'context_overflow', false],
    [400, { message: 'max_tokens is too large: 90000, at most 4096 completion tokens' }, 'bad_request', false],
    [400, { message: 'Incorrect API key provided' }, 'auth', false],
    [401, { message: 'maximum context length' }, 'auth', false],
    [402, { message: 'Insufficient Balance' }, 'quota_exceeded', false],
    [403, { message: 'no' }, 'auth', false],
    [404, { message: 'no such model' }, 'model_not_found', false],
    [413, { message: 'Request too large' }, 'request_too_large', false],
    [429, { message: 'Slow down: maximum context length is not the point' }, 'rate_limited', true],
    [429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }, 'quota_exceeded', false],
    [500, { message: 'oops' }, 'server_error', false],
    [503, { message: 'busy' }, 'overloaded', true],
    [529, { message: 'busy' }, 'overloaded', true],
  ])('%d %j is %s', async (status, body, code, retryable) => {
    const { message, code: providerCode } = body;
    const expected = { code, status, retryable, message };
    expect(await failureOf(refusal(status, body))).toMatchObject(
      providerCode === undefined ? expected : { ...expected, providerCode },
    );
  });

  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after-ms': '700', 'retry-after': '9' }, 700],
    [{ 'retry-after': 'abc' }, undefined],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, undefined],
  ])('with %j waits %s ms', async (headers, milliseconds) => {
    expect((await failureOf(refusal(429, { message: 'slow' }, headers))).retryAfterMs).toBe(milliseconds);
  });

  it('reads a date to come, and a hint makes a quota a rate', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const error = await failureOf(refusal(429, { message: 'quota' }, { 'retry-after': date }));
    expect(error).toMatchObject({ code: 'rate_limited' });
    expect(error.retryAfterMs).toBeGreaterThan(57_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('reads RetryInfo in the body', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
    const error = await failureOf(refusal(429, { message: 'current quota', status: 'RESOURCE_EXHAUSTED', details }));
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 34_400, providerCode: 'RESOURCE_EXHAUSTED' });
  });

  it('an empty body is an overflow only near the full window', async () => {
    const window = (contextWindow: number) => ({ capabilities: { contextWindow } });
    expect((await failureOf({ status: 400, body: '' }, window(50))).code).toBe('context_overflow');
    expect((await failureOf({ status: 400, body: '' }, window(5_000))).code).toBe('bad_request');
  });

  it('holds no text of the request and no key', async () => {
    const canary = 'Which colour has the sky?';
    const message = `Bad input: "${canary}" for key SECRET-KEY-9 and sk-proj-abcdef123 ${'x'.repeat(900)}`;
    server.respond(refusal(400, { message, code: 'SECRET-KEY-9' }));
    const request = requestTo(server, { target: { apiKeyEnv: 'K' } });
    const error = errorOf(await attempt(request, { env: { K: 'SECRET-KEY-9' } }));
    expect(error.message).toContain('Bad input: "[…]');
    expect(error.message.length).toBeLessThanOrEqual(500);
    for (const secret of [canary, 'colour', 'SECRET', 'abcdef']) expect(JSON.stringify(error)).not.toContain(secret);
  });

  it('a page that is no JSON keeps its status', async () => {
    const html = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' };
    expect(await failureOf(html)).toMatchObject({ code: 'server_error', status: 502 });
  });
});

describe('a 200 answer that is none', () => {
  it.each<[string, PlannedResponse, Record<string, unknown>]>([
    [
      'an error object',
      { body: '{"error":{"message":"busy","type":"overloaded_error"}}' },
      { code: 'overloaded', message: 'busy' },
    ],
    [
      'an error with a status',
      { body: '{"error":{"message":"slow","code":429}}' },
      { code: 'rate_limited', message: 'slow' },
    ],
    [
      'a bare message',
      { body: '{"object":"error","message":"nope","type":"invalid_request_error"}' },
      { code: 'bad_request', message: 'nope' },
    ],
    ['a foreign object', { body: '{"hello":1}' }, { code: 'protocol' }],
    ['a page', { body: '<html></html>' }, { code: 'protocol' }],
    ['nothing', { body: '' }, { code: 'incomplete_stream' }],
    [
      'an error in the stream',
      { chunks: [text, 'data: {"error":{"message":"lost","type":"server_error"}}\n\n'] },
      { code: 'server_error', message: 'lost' },
    ],
    [
      'an error event',
      { chunks: ['event: error\ndata: {"message":"lost"}\n\n'] },
      { code: 'server_error', message: 'lost' },
    ],
    ['a broken line', { chunks: [text, 'data: {"choices":[{\n\n'] }, { code: 'protocol' }],
    ['an end without finish_reason', { chunks: [text] }, { code: 'incomplete_stream', retryable: true }],
    ['[DONE] without finish_reason', { chunks: [text, 'data: [DONE]\n\n'] }, { code: 'incomplete_stream' }],
    ['a cut', { chunks: [text, 'cut'] }, { code: 'incomplete_stream', retryable: true }],
    ['a reset', { chunks: [text, 'reset'] }, { code: 'network', retryable: true }],
    ['a failed reason', { chunks: [text, event({ delta: {}, finish_reason: 'error' })] }, { code: 'server_error' }],
  ])('%s', async (_name, response, expected) => {
    for (const stream of [true, false]) expect(await failureOf(response, { stream })).toMatchObject(expected);
  });

  it('a refused connection is a network failure', async () => {
    const port = await freePort();
    const error = errorOf(await attempt(requestTo({ url: `http://127.0.0.1:${port}` })));
    expect(error).toMatchObject({ code: 'network', retryable: true, providerCode: 'ECONNREFUSED' });
  });

  it('a key that is not there is said before any request', async () => {
    const before = server.requests.length;
    const error = errorOf(await attempt(requestTo(server, { target: { apiKeyEnv: 'NOT_SET' } })));
    expect(error).toMatchObject({ code: 'auth', message: expect.stringContaining('NOT_SET') });
    expect(server.requests).toHaveLength(before);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
  });
}
