import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReplayServer } from '@jetloop/testing';
import { attempt, errorOf, event, providerServer, requestTo, textOf } from '../adapter-driver.fixture.spec.js';

let server: ReplayServer;
beforeEach(async () => {
  server = await providerServer();
});
afterEach(() => server.stop());

const role = event({ delta: { role: 'assistant', content: '' } });
const text = event({ delta: { content: 'Hi' } });
const end = event({ delta: {}, finish_reason: 'stop' });
const pause = (pauseMs: number) => ({ pauseMs });

async function closedWithin(milliseconds: number): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (server.closed === 0) {
    if (performance.now() > deadline) throw new Error('expected the client to close its socket');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('timeouts', () => {
  it.each([
    ['first-token', { firstTokenTimeout: 150 }, [pause(20_000), text, end]],
    ['first-token', { firstTokenTimeout: 150 }, [role, 'hang']],
    [
      'first-token',
      { firstTokenTimeout: 700, idleTimeout: 500 },
      Array(24)
        .fill([': ping\n\n', pause(50)])
        .flat(),
    ],
    ['idle', { idleTimeout: 150 }, [role, text, 'hang']],
    [
      'request',
      { requestTimeout: 700, idleTimeout: 500 },
      Array(24)
        .fill([text, pause(50)])
        .flat(),
    ],
  ])('%s with %j', async (phase, target, chunks) => {
    server.respond({ chunks });
    const error = errorOf(await attempt(requestTo(server, { target })));
    expect(error).toMatchObject({ code: 'timeout', phase, retryable: false });
    await closedWithin(10_000);
  });

  it('comments feed the idle timer', async () => {
    const comments = Array.from({ length: 12 }, () => [': ping\n\n', pause(50)]).flat();
    server.respond({ chunks: [text, ...comments, end] });
    expect(textOf(await attempt(requestTo(server, { target: { idleTimeout: 500 } })))).toBe('Hi');
  });

  it('a slow reader is no silent provider', async () => {
    server.respond({ chunks: [text, end] });
    const request = requestTo(server, { target: { idleTimeout: 400 } });
    const { assembled } = await attempt(request, {
      onPart: () => {
        blockFor(200);
      },
    });
    expect(assembled.end).toEqual({ finish: 'stop' });
  });
});

describe('an abort', () => {
  it('before the call makes no request', async () => {
    const error = errorOf(await attempt(requestTo(server), { signal: AbortSignal.abort() }));
    expect(error.code).toBe('aborted');
    expect(server.requests).toHaveLength(0);
  });

  it('before the first byte closes the socket', async () => {
    server.respond({ chunks: [pause(20_000), text, end] });
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 100);
    expect(errorOf(await attempt(requestTo(server), { signal: controller.signal })).code).toBe('aborted');
    await closedWithin(10_000);
  });

  it('in the middle closes the socket and keeps what was said', async () => {
    server.respond({ chunks: [text, 'hang'] });
    const controller = new AbortController();
    const answered = await attempt(requestTo(server), {
      signal: controller.signal,
      onPart: ({ kind }) => {
        if (kind === 'text') controller.abort();
      },
    });
    expect(errorOf(answered)).toMatchObject({ code: 'aborted', retryable: false });
    expect(textOf(answered)).toBe('Hi');
    await closedWithin(10_000);
  });
});

function blockFor(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
