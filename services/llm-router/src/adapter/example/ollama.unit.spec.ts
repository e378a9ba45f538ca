import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplayServer } from '@jetloop/testing';
import { providerServer, requestTo } from '../adapter-driver.fixture.spec.js';
import type { Part } from '../part.js';
import { OllamaAdapter } from './ollama.fixture.spec.js';

describe('the example of docs/providers.md', () => {
  let provider: ReplayServer;
  beforeAll(async () => {
    provider = await providerServer();
  });
  afterAll(() => provider.stop());

  const attempt = async (signal = new AbortController().signal) => {
    const parts: Part[] = [];
    for await (const part of new OllamaAdapter().attempt(requestTo(provider), signal)) parts.push(part);
    return parts;
  };
  const hello = [
    '{"message":{"role":"assistant","content":"Hé"},"done":false}\n',
    '{"message":{"role":"assistant","content":"llo"},"done":false}\n',
    '{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":5}',
  ];

  it('is this code', () => {
    const read = (...path: string[]) => readFileSync(join(import.meta.dirname, ...path), 'utf8');
    expect(read('../../../../../docs/providers.md')).toContain(`\`\`\`ts\n${read('ollama.fixture.spec.ts')}\`\`\``);
  });

  it('answers, in pieces of any size', async () => {
    provider.respond({ chunks: hello, pieces: 1 });
    expect(await attempt()).toEqual([
      { kind: 'text', text: 'Hé' },
      { kind: 'text', text: 'llo' },
      { kind: 'usage', usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5 } },
      { kind: 'finish', reason: 'stop', raw: 'stop' },
    ]);
    expect(provider.requests.at(-1)).toMatchObject({
      path: '/v1/api/chat',
      body: { messages: [{ role: 'system', content: 'You are brief.' }, { role: 'user' }], stream: true },
    });
  });

  it('ends with one error, last, whatever goes wrong', async () => {
    const answers = [
      { chunks: hello.slice(0, 2) },
      { chunks: [hello[0]!, 'cut'] },
      { chunks: [hello[0]!, '{"mess\n'] },
      { status: 503, body: '{"error":"busy with: Which colour has the sky?"}' },
    ];
    const codes = ['incomplete_stream', 'incomplete_stream', 'protocol', 'overloaded'];
    for (const [n, answer] of answers.entries()) {
      provider.respond(answer);
      const ends = (await attempt()).filter(({ kind }) => kind !== 'text');
      expect(ends).toMatchObject([{ kind: 'error', error: { code: codes[n] } }]);
      expect(JSON.stringify(ends)).not.toContain('colour');
    }
    expect(await attempt(AbortSignal.abort())).toMatchObject([{ kind: 'error', error: { code: 'aborted' } }]);
  });
});
