import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startReplayServer, type ReplayServer } from '@jetloop/testing';
import { TestSystem } from '../e2e/support/test-system.js';
import { expectRightInSql, replayTarget } from '../e2e/support/wire-case.js';

const folder = process.env['JETLOOP_RECORDED'] ?? '';

describe('recorded answers through the whole loop', () => {
  let server: ReplayServer;
  let system: TestSystem;
  beforeAll(async () => {
    expect(folder).not.toBe('');
    server = await startReplayServer({ folder, strict: true });
    system = await TestSystem.start({ targets: { replay: replayTarget(server) } });
  });
  afterAll(async () => {
    await system.stop();
    await server.stop();
  });

  it.each([
    ['xai-tool-call', [1, 306, 253]],
    ['groq-tool-call', [210, 0, 15]],
    ['deepseek-tool-call', [19, 320, 83]],
  ] as const)(
    '%s, then openai-text: reasoning, tool call, usage and text arrive right in SQL',
    async (call, callUsage) => {
      await expectRightInSql(system, server, folder, { call, text: 'openai-text', callUsage, textUsage: [16, 0, 300] });
    },
  );
});
