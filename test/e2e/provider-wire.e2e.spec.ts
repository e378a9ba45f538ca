import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startReplayServer, type ReplayServer } from '@jetloop/testing';
import { TestSystem } from './support/test-system.js';
import { expectRightInSql, replayTarget } from './support/wire-case.js';

const folder = join(import.meta.dirname, '../fixtures/providers');

describe('a provider on a real wire', () => {
  let server: ReplayServer;
  let system: TestSystem;
  beforeAll(async () => {
    server = await startReplayServer({ folder, strict: true });
    system = await TestSystem.start({ targets: { replay: replayTarget(server) } });
  });
  afterAll(async () => {
    await system.stop();
    await server.stop();
  });

  it('reasoning, tool call, usage and text arrive right in SQL', async () => {
    await expectRightInSql(system, server, folder, {
      call: 'chat-reasoning-tool-call',
      text: 'chat-text',
      callUsage: [36, 64, 90],
      textUsage: [10, 0, 5],
    });
  });

  it('the system prompt, the prompt and the schemas of the tools are in request 1', async () => {
    server.enqueue('chat-text');
    const before = server.requests.length;
    const session = await system.create('replay', { tools: ['read_file'], systemPrompt: 'You are brief.' });
    await session.prompt('Which colour has the sky?');
    const body = server.requests[before]?.body as { messages: unknown; tools: { function: { name: string } }[] };
    expect(body.messages).toEqual([
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: 'Which colour has the sky?' },
    ]);
    expect(body.tools.map((tool) => tool.function.name)).toEqual(['read_file']);
  });

  it('a cancel closes the connection to the provider', async () => {
    server.respond({
      chunks: ['data: {"choices":[{"index":0,"delta":{"content":"Once upon a time"}}]}\n\n', { pauseMs: 20_000 }],
    });
    const closed = server.closed;
    const session = await system.create('replay');
    const said = new Promise<void>((resolve) => {
      const stop = system.client.live(
        session.id,
        () => {
          stop();
          resolve();
        },
        'delta',
      );
    });
    const { messageId } = await system.client.prompt(session.id, 'Tell me a story');
    await said;
    await system.client.cancel(session.id);
    expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
    expect(server.closed).toBe(closed + 1);
    expect(await session.data('assistant.message')).toMatchObject([
      { content: [{ text: 'Once upon a time' }], finishReason: 'aborted' },
    ]);
  });
});
