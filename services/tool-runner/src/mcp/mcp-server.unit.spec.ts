import { describe, expect, it } from '@jest/globals';
import { McpForgottenError, type McpConnection } from './mcp-connection.js';
import { MAX_FAILURES, McpServer } from './mcp-server.js';

const call = {
  ...{ name: 'say', arguments: {}, effectId: 'e', limitMs: 1, maxMs: 1 },
  signal: new AbortController().signal,
  onProgress: () => undefined,
};

/** A server that the test starts, ends and lets fail, and a clock that it moves. */
function moody() {
  let now = 0;
  let starts = 0;
  let ends = 0;
  let isBroken = false;
  let cannotList = false;
  let answers: Promise<unknown> = Promise.resolve();
  let forgets = 0;
  let end: () => void = () => undefined;
  let announce: () => void = () => undefined;
  const tools = [{ name: 'say', description: '', inputSchema: {} }];
  const server = new McpServer({
    name: 'moody',
    now: () => now,
    connect: (onListChanged) => {
      starts += 1;
      if (isBroken) return Promise.reject(new Error('no such program'));
      announce = onListChanged;
      const closed = new Promise<void>((resolve) => {
        end = resolve;
      });
      const connection: McpConnection = {
        closed,
        listTools: () => (cannotList ? Promise.reject(new Error('no list')) : Promise.resolve([...tools])),
        callTool: () =>
          forgets-- > 0
            ? Promise.reject(new McpForgottenError('knows its session no more'))
            : answers.then(() => ({ content: [], isError: false })),
        close: () => {
          ends += 1;
          end();
          return Promise.resolve();
        },
      };
      return Promise.resolve(connection);
    },
  });
  return {
    server,
    tools,
    starts: () => starts,
    ends: () => ends,
    answerAfter: (event: Promise<unknown>) => {
      answers = event;
    },
    forgetSession: (times: number) => (forgets = times),
    forgetTools: () => (cannotList = true),
    break: () => (isBroken = true),
    mend: () => (isBroken = false),
    after: (milliseconds: number) => (now += milliseconds),
    die: async () => {
      end();
      await new Promise(setImmediate);
    },
    announce: () => {
      announce();
    },
  };
}

describe('an MCP server', () => {
  it('starts when it is first needed, once', async () => {
    const { server, starts } = moody();
    expect(starts()).toBe(0);
    await Promise.all([server.tools(), server.call(call), server.tools()]);
    expect(starts()).toBe(1);
  });

  it('is asked for its tools once, and again when they changed', async () => {
    const { server, tools, announce } = moody();
    await server.tools();
    tools.push({ name: 'more', description: '', inputSchema: {} }, { name: 'more', description: '', inputSchema: {} });
    expect(await server.tools()).toHaveLength(1);
    announce();
    expect((await server.tools()).map(({ name }) => name)).toEqual(['say', 'more']);
  });

  it('that knows its session no more has not looked at the call: it is begun anew and called once more, no failure', async () => {
    const { server, starts, ends, forgetSession } = moody();
    await server.call(call);
    forgetSession(1);
    await expect(server.call(call)).resolves.toMatchObject({ isError: false });
    expect([starts(), ends()]).toEqual([2, 1]);
    forgetSession(2);
    await expect(server.call(call)).rejects.toThrow(McpForgottenError);
    expect(starts()).toBe(3);
    await server.call(call);
    expect(starts()).toBe(4);
  });

  it('that ended starts again at once, then after pauses that grow', async () => {
    const { server, starts, die, after } = moody();
    await server.call(call);
    await die();
    await server.tools();
    await die();
    await expect(server.call(call)).rejects.toMatchObject({ code: 'mcp_unavailable' });
    after(499);
    await expect(server.tools()).rejects.toThrow(/started again in a moment/);
    after(1);
    await server.tools();
    expect(starts()).toBe(3);
  });

  it('is withdrawn after ten failures in a row, and a success in between starts the count anew', async () => {
    const one = moody();
    const fail = async (times: number) => {
      for (let n = 0; n < times; n++) {
        one.after(60_000);
        await expect(one.server.tools()).rejects.toThrow(/no such program/);
      }
    };
    one.break();
    await fail(MAX_FAILURES - 1);
    one.mend();
    one.after(60_000);
    await one.server.call(call);
    await one.die();
    one.break();
    await fail(MAX_FAILURES - 1);
    one.mend();
    one.after(3_600_000);
    await expect(one.server.call(call)).rejects.toThrow(
      /withdrawn after 10 failures in a row, the last: no such program/,
    );
  });

  it('that cannot list its tools is ended each time, and withdrawn like one that does not start', async () => {
    const { server, starts, ends, forgetTools, after } = moody();
    forgetTools();
    await expect(server.tools()).rejects.toThrow(/no list/);
    await expect(server.tools()).rejects.toThrow(/no list/);
    await expect(server.tools()).rejects.toThrow(/started again in a moment/);
    for (let n = 2; n < MAX_FAILURES; n++) {
      after(60_000);
      await expect(server.tools()).rejects.toThrow(/no list/);
    }
    after(3_600_000);
    await expect(server.tools()).rejects.toThrow(/withdrawn after 10 failures in a row, the last: no list/);
    expect({ starts: starts(), ends: ends() }).toEqual({ starts: MAX_FAILURES, ends: MAX_FAILURES });
  });

  it('that cannot list its tools any more is not ended in a call', async () => {
    const { server, ends, forgetTools, announce, answerAfter } = moody();
    await server.tools();
    forgetTools();
    announce();
    const { promise, resolve } = Promise.withResolvers();
    answerAfter(promise);
    const calling = server.call(call);
    await expect(server.tools()).rejects.toThrow(/no list/);
    expect(ends()).toBe(0);
    resolve(undefined);
    await calling;
  });

  it('that is closed starts no more', async () => {
    const { server, starts } = moody();
    await server.tools();
    await server.close();
    await expect(server.tools()).rejects.toMatchObject({ code: 'mcp_unavailable' });
    expect(starts()).toBe(1);
  });
});
