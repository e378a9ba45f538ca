import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { mcpConnector } from './sdk-connection.js';

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

it('progress extends the limit of a call up to a maximum, at which it ends', async () => {
  const connect = mcpConnector([]);
  const connection = await connect(
    { command: process.execPath, args: [everything], env: {}, perSession: false, readonlyTools: [] },
    () => undefined,
  );
  let reports = 0;
  const call = connection.callTool({
    name: 'trigger-long-running-operation',
    arguments: { duration: 60, steps: 600 },
    effectId: 'e',
    limitMs: 1_000,
    maxMs: 2_500,
    signal: new AbortController().signal,
    onProgress: () => {
      reports += 1;
    },
  });
  await expect(call).rejects.toMatchObject({ code: 'timeout' });
  // One each 100 ms: more than its limit alone has room for.
  expect(reports).toBeGreaterThan(11);
  await connection.close();
});
