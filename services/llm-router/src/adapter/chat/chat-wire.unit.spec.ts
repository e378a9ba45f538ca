import { afterEach, describe, expect, it } from '@jest/globals';
import type { ReplayOptions, ReplayServer } from '@jetloop/testing';
import { attempt, event, providerServer, requestTo, textOf } from '../adapter-driver.fixture.spec.js';

const SKY = 'The sky is "blue" – día, 空 and 🌊.\nAlways.';
let server: ReplayServer | undefined;
const serve = async (options: Partial<ReplayOptions> = {}) => (server = await providerServer(options));
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

describe('a streamed chat answer', () => {
  it.each<[string, Partial<ReplayOptions>]>([
    ['LF', {}],
    ['CRLF', { lineEnd: '\r\n' }],
    ['CR', { lineEnd: '\r' }],
    ['no space behind data:', { spaceAfterColon: false }],
    ['single bytes', { pieces: 1 }],
    ['single bytes of CRLF', { pieces: 1, lineEnd: '\r\n' }],
    ['single bytes of CR', { pieces: 1, lineEnd: '\r' }],
    ['pieces of 7 bytes', { pieces: 7 }],
  ])('is the same with %s', async (_name, options) => {
    const provider = await serve(options);
    const answered = await attempt(requestTo(provider));
    expect(textOf(answered)).toBe(SKY);
    expect(answered.parts.at(-1)).toEqual({ kind: 'finish', reason: 'stop', raw: 'stop' });
    expect(answered.assembled.usage).toEqual({ input: 10, cacheRead: 0, cacheWrite: 0, output: 5 });
    expect(answered.assembled.model.served).toBe('small-1');
  });

  it('asks for usage and sends the key, the system prompt and the settings', async () => {
    const provider = await serve();
    const target = { apiKeyEnv: 'SOME_KEY', maxTokens: 99, temperature: 0.5 };
    await attempt(requestTo(provider, { target }), { env: { SOME_KEY: 'abc-123' } });
    expect(provider.requests).toHaveLength(1);
    expect(provider.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer abc-123' },
      body: {
        model: 'chat-text',
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 99,
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'You are brief.' },
          { role: 'user', content: 'Which colour has the sky?' },
        ],
      },
    });
  });

  it.each([
    ['chat-cached-usage', { input: 44, cacheRead: 256, cacheWrite: 0, output: 42 }],
    ['chat-reasoning-tool-call', { input: 36, cacheRead: 64, cacheWrite: 0, output: 90 }],
    ['chat-tool-call', { input: 50, cacheRead: 0, cacheWrite: 0, output: 10 }],
  ])('counts %s in disjoint buckets, the last frame standing', async (model, usage) => {
    const answered = await attempt(requestTo(await serve(), { target: { model } }));
    expect(answered.assembled.usage).toEqual(usage);
  });

  it('takes usage from x_groq, and content in the same chunk once', async () => {
    const provider = await serve();
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    provider.respond({ chunks: [event({ delta: { content: 'Hi' }, finish_reason: 'stop' }, { x_groq: { usage } })] });
    const answered = await attempt(requestTo(provider));
    expect(textOf(answered)).toBe('Hi');
    expect(answered.assembled.usage).toMatchObject({ input: 7, output: 3 });
  });

  it('keeps reasoning apart from text and calls', async () => {
    const answered = await attempt(requestTo(await serve(), { target: { model: 'chat-reasoning-tool-call' } }));
    expect(answered.assembled.content).toEqual([
      { type: 'reasoning', text: 'The user asks for the weather.' },
      { type: 'tool-call', id: 'call_own_3', name: 'weather', arguments: '{"city":"Oslo"}' },
    ]);
    expect(answered.assembled.end).toEqual({ finish: 'tool-calls' });
  });

  it('is over at [DONE] though the socket stays open, which is then released', async () => {
    const provider = await serve();
    provider.respond({
      chunks: [event({ delta: { content: 'Hi' }, finish_reason: 'stop' }), 'data: [DONE]\n\n', 'hang'],
    });
    const started = performance.now();
    expect(textOf(await attempt(requestTo(provider)))).toBe('Hi');
    expect(performance.now() - started).toBeLessThan(10_000);
    await until(() => provider.closed === 1);
  });

  it('is over without [DONE] though the socket stays open, once finish and usage are there', async () => {
    const provider = await serve();
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    provider.respond({ chunks: [event({ delta: { content: 'Hi' }, finish_reason: 'stop' }, { usage }), 'hang'] });
    const started = performance.now();
    expect(textOf(await attempt(requestTo(provider)))).toBe('Hi');
    expect(performance.now() - started).toBeLessThan(10_000);
    await until(() => provider.closed === 1);
  });

  it('counts a last event without its blank line, and stands when the connection breaks behind it', async () => {
    const provider = await serve();
    const last = event({ delta: { content: 'Hi' }, finish_reason: 'stop' });
    provider.respond({ chunks: [last.trimEnd()] }, { chunks: [last, 'reset'] });
    expect(textOf(await attempt(requestTo(provider)))).toBe('Hi');
    expect(textOf(await attempt(requestTo(provider)))).toBe('Hi');
  });

  it('leaves the connection to the next request', async () => {
    const provider = await serve();
    for (let n = 0; n < 3; n++) {
      await attempt(requestTo(provider));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(provider.connections).toBe(1);
    expect(provider.closed).toBe(0);
  });
});

describe('a whole chat answer', () => {
  it('gives the same text, calls and usage', async () => {
    const provider = await serve({ pieces: 5 });
    const text = await attempt(requestTo(provider, { target: { stream: false } }));
    expect(textOf(text)).toBe(SKY);
    expect(text.assembled).toMatchObject({ usage: { input: 10, output: 5 }, end: { finish: 'stop' } });
    const call = await attempt(requestTo(provider, { target: { stream: false, model: 'chat-tool-call' } }));
    expect(call.assembled).toMatchObject({
      content: [{ type: 'tool-call', id: 'call_own_1', name: 'weather', arguments: '{"city":"Lisbon"}' }],
      end: { finish: 'tool-calls' },
    });
    expect(provider.requests[0]?.body).not.toHaveProperty('stream_options');
  });
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 1_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('expected it within a second');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
