import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  agentSpecSchema,
  subjects,
  type AcpReply,
  type HarnessEvents,
  type HarnessFinished,
  type Json,
} from '@jetloop/contracts';
import { AgentStore } from '@jetloop/messaging';
import { isRunning } from './support/acp/is-running.js';
import { ScriptedAgent, storyOf, type Agent } from './support/acp/scripted-agent.js';
import { TestSystem } from './support/test-system.js';

type Write = typeof ScriptedAgent.write extends (folder: string, ...rest: infer R) => unknown ? R : never;
const BEGIN = ['session.created', 'message.queued', 'turn.start', 'user.message', 'step.start'];
const HANDS = ['initialize', 'session/new'];

describe('a turn that an external agent drives', () => {
  let system: TestSystem;
  const run = async (...rest: Write) => {
    const agent = await ScriptedAgent.write(system.workspace, ...rest);
    const session = await system.create('harness', agent.spec);
    const finished = finishedOf(session.id);
    const end = await session.prompt('hi');
    const raw = async (source: string) =>
      (await session.data('harness.raw')).filter((one) => one.source === source).map(({ value }) => value);
    return { agent, session, end, raw, finished: await finished, story: storyOf(await session.events()) };
  };
  /** The last reply of the next attempt of a session. */
  const finishedOf = (session: string): Promise<HarnessFinished> =>
    new Promise((resolve) => {
      const seen = system.bus.nats.subscribe(subjects.reply(system.tenant, session, 'acp'), {
        callback: (_error, message) => {
          const reply = JSON.parse(Buffer.from(message.data).toString()) as AcpReply;
          if (reply.kind !== 'harness.finished') return;
          seen.unsubscribe();
          resolve(reply);
        },
      });
    });

  beforeAll(async () => {
    const harnessTimes = { handshakeMs: 8_000, cancelMs: 2_000, terminateMs: 600, killMs: 1_000 };
    system = await TestSystem.start({ targets: {}, harnessTimes });
  });

  afterAll(async () => {
    await system.stop();
  });

  it('A1 A24 version 1 passes, with exactly these bytes; updates before the session has a name are kept', async () => {
    const { agent, end, story, session } = await run(async (a) => {
      await a.initialize();
      const created = await a.next('session/new');
      await a.update('current_mode_update', { currentModeId: 'early' });
      await a.answer(created, { sessionId: a.session });
      const prompt = await a.next('session/prompt');
      await a.say('Hello');
      await a.say(', world');
      await a.stop(prompt);
    });
    expect(end).toEqual({ kind: 'completed' });
    const early = 'session/update/current_mode_update';
    expect(story).toEqual([...BEGIN, ...HANDS, early, 'assistant.message', 'session/prompt', 'step.end', 'turn.end']);
    expect(await session.data('assistant.message')).toMatchObject([
      { content: [{ type: 'text', text: 'Hello, world' }], usage: null, cost: null },
    ]);
    const cwd = JSON.stringify(system.workspace);
    expect(await agent.wire()).toEqual([
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false}}}',
      `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":${cwd},"mcpServers":[]}}`,
      '{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"agent-1","prompt":[{"type":"text","text":"hi"}]}}',
    ]);
  });

  it('A2 version 0: both are named, and nothing more is written', async () => {
    const { agent, end, session } = await run(async (a) => {
      await a.answer(await a.next('initialize'), { protocolVersion: 0 });
    });
    expect(end).toMatchObject({ kind: 'error', code: 'version' });
    const [{ error } = { error: undefined }] = await session.data('turn.error');
    expect(error?.name).toBe('Protocol');
    expect(error?.message).toContain('version 0');
    expect(error?.message).toContain('version 1');
    expect(await agent.methods()).toEqual(['initialize']);
  });

  it.each([
    ['end_turn', 'completed', { kind: 'completed' }],
    ['max_tokens', 'max-tokens', { kind: 'max-tokens' }],
    ['max_turn_requests', 'max-steps', { kind: 'max-steps' }],
    ['refusal', 'refused', { kind: 'refused' }],
    ['cancelled', 'aborted', { kind: 'aborted', reason: 'the agent cancelled the turn itself' }],
  ])('A5 stop reason %s: the turn ends as %s, and what the agent said is kept', async (stopReason, outcome, reason) => {
    const { end, session, raw, finished } = await run(
      async (a) => {
        await a.stop(await a.prompted(), a.args as string);
      },
      { script: stopReason },
    );
    expect(end).toEqual(reason);
    expect(await session.data('turn.end')).toEqual([{ turn: 1, reason }]);
    expect(await session.data('turn.error')).toEqual([]);
    expect(await raw('session/prompt')).toEqual([{ jsonrpc: '2.0', id: 3, result: { stopReason } }]);
    expect(finished).toMatchObject({ outcome, stopReason });
  });

  it('A10 A11 its calls and messages stand in SQL like those of a native turn', async () => {
    const { session } = await run(async (a) => {
      const prompt = await a.prompted();
      await a.update('tool_call', { toolCallId: 'c1', title: 'Read a file', rawInput: { path: 'a' } });
      await a.update('tool_call_update', { toolCallId: 'c1', status: 'completed', rawOutput: { lines: 3 } });
      await a.update('tool_call', { toolCallId: 'c2', title: 'Left open' });
      await a.say('Three lines.');
      await a.stop(prompt);
    });
    const where = `tenant = '${system.tenant}' and session_id = '${session.id}'`;
    expect(await system.sql(`select name, is_error, error_code from tool_calls where ${where} order by n`)).toEqual([
      ['Read a file', false, null],
      ['Left open', true, 'interrupted'],
    ]);
    expect(await system.sql(`select role, text from messages where ${where} order by seq`)).toEqual([
      ['user', 'hi'],
      ['assistant', 'Three lines.'],
    ]);
    expect(await system.sql(`select count(*)::int from turns where ${where} and end_reason = 'completed'`)).toEqual([
      [1],
    ]);
  });

  it.each([
    ['fs/read_text_file', { path: '/etc/passwd' }],
    ['fs/write_text_file', { path: '/etc/passwd', content: 'x' }],
    ['terminal/create', { command: 'sh', args: ['-c', 'true'] }],
    ['terminal/output', { terminalId: 't' }],
    ['no/such_method', { any: [1, 'thing'] }],
  ])('A18 the request %s, which we do not offer, is kept and refused', async (method, more) => {
    const params = { sessionId: 'agent-1', ...more };
    const { agent, raw, end } = await run(
      async (a) => {
        const prompt = await a.prompted();
        const { method: asked, params: given } = a.args as { method: string; params: unknown };
        await a.request('q', asked, given);
        await a.stop(prompt);
      },
      { script: { method, params } },
    );
    expect(end).toEqual({ kind: 'completed' });
    expect(await raw(`refused/${method}`)).toMatchObject([{ method, code: -32601, params }]);
    const answers = (await agent.wire())
      .map((line) => JSON.parse(line) as { id: unknown })
      .filter(({ id }) => id === 'q');
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 'q', error: { code: -32601, message: expect.any(String) as unknown } },
    ]);
  });

  it('A22 bytes that are no frames stand in the log, and the turn goes on', async () => {
    const { session, end, raw } = await run(async (a) => {
      await a.raw('starting up ...\n');
      const prompt = await a.prompted();
      await a.raw(new Uint8Array([0xff, 0xfe, 10]));
      await a.raw(
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"agent-1","update":{"sessionUpdate":"usage_update","used":1e999,"size":1}}}\n[]\n',
      );
      await a.say('still here');
      await a.stop(prompt);
    });
    expect(end).toEqual({ kind: 'completed' });
    expect(await raw('undecodable')).toEqual([{ text: 'starting up ...' }, { base64: '//4=' }, { text: '[]' }]);
    expect(await raw('session/update/usage_update')).toMatchObject([
      { text: expect.stringContaining('1e999') as unknown },
    ]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'still here' }] }]);
  });

  it.each([
    ['bored', undefined, 'Protocol'],
    [undefined, { code: -32000, message: 'Please log in', data: { url: 'x' } }, 'Harness'],
  ])('A23 stop reason %s, error %j: %s, one turn.error, and the next prompt runs', async (reason, error, name) => {
    const script = { reason: reason ?? null, error: error ?? null } as Json;
    const { session, raw } = await run(
      async (a) => {
        const prompt = await a.prompted();
        await a.say('partly');
        const { reason: why, error: failure } = a.args as { reason: string | null; error: unknown };
        if (JSON.stringify(prompt.params.prompt).includes('again')) await a.stop(prompt);
        else if (failure) await a.fail(prompt, failure);
        else await a.answer(prompt, { stopReason: why });
      },
      { script, continuity: 'fresh' },
    );
    expect(await session.data('turn.error')).toMatchObject([{ step: 1, error: { name } }]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'partly' }] }]);
    if (error) expect(await raw('session/prompt')).toMatchObject([{ error }]);
    expect(await session.prompt('again')).toEqual({ kind: 'completed' });
    expect((await session.data('turn.end')).map(({ turn }) => turn)).toEqual([1, 2]);
    expect(await session.data('turn.error')).toHaveLength(1);
  });

  /** Tells 500 frames again of a session that it loads; `args`: the error that it then answers with, if any. */
  const loads = async (a: Agent) => {
    await a.initialize({ loadSession: true });
    const created = a.next('session/new');
    let first = await Promise.race([created, a.next('session/load')]);
    if (first.params.sessionId === a.session) {
      for (let n = 0; n < 500; n++) await a.say(`old ${n}`);
      if (a.args) {
        await a.fail(first, a.args);
        a.session = 'agent-2';
        first = await created;
      }
    }
    await a.answer(first, { sessionId: a.session });
    const prompt = await a.next('session/prompt');
    await a.say('new');
    await a.stop(prompt);
  };
  const continuities = ['required', 'fresh'] as const;

  it.each(continuities)(
    'A25 the second turn loads the session, continuity %s: 500 replayed frames are one, and the agent is asked only what is new',
    async (continuity) => {
      const { agent, session, raw } = await run(loads, { continuity });
      await system.client.inject(session.id, 'a fact');
      expect(await session.prompt('more')).toEqual({ kind: 'completed' });
      expect(await raw('session/load/replay')).toMatchObject([
        { frames: 500, blob: { mediaType: 'application/x-ndjson' } },
      ]);
      expect(await session.data('assistant.message')).toHaveLength(2);
      const prompts = (await agent.wire()).filter((line) => line.includes('session/prompt'));
      expect(prompts).toHaveLength(2);
      expect(prompts[1]).toContain('a fact');
      expect(prompts[1]).not.toContain('"hi"');
    },
  );

  it.each(continuities)(
    'A25 an agent that replays 500 frames and then cannot load, continuity %s: fails, or begins anew',
    async (continuity) => {
      const error = { code: -32002, message: 'I do not know this session', data: { id: 'agent-1' } };
      const { agent, session, raw } = await run(loads, { script: error, continuity });
      const isFresh = continuity === 'fresh';
      expect(await session.prompt('more')).toMatchObject(
        isFresh ? { kind: 'completed' } : { kind: 'error', code: 'cannot_load' },
      );
      const again = isFresh ? ['session/new', 'session/prompt'] : [];
      expect((await agent.methods()).slice(3)).toEqual(['initialize', 'session/load', ...again]);
      const story = storyOf(await session.events());
      expect(story.slice(story.lastIndexOf('step.start') + 1)).toEqual([
        ...['initialize', 'session/load/replay', 'session/load'],
        ...(isFresh ? ['session/new', 'assistant.message', 'session/prompt'] : ['turn.error']),
        ...['step.end', 'turn.end'],
      ]);
      expect(await raw('session/load/replay')).toMatchObject([{ frames: 500 }]);
      expect(await raw('session/load')).toEqual([{ jsonrpc: '2.0', id: 2, error }]);
      expect(await session.data('turn.error')).toMatchObject(
        isFresh
          ? []
          : [
              {
                error: {
                  name: 'Harness',
                  code: 'cannot_load',
                  message: expect.stringContaining(error.message) as unknown,
                },
              },
            ],
      );
      if (isFresh)
        expect(JSON.parse((await agent.wire()).at(-1) ?? '')).toMatchObject({ params: { sessionId: 'agent-2' } });
    },
  );

  /** What the services say to a command that no client of ours would send. */
  const outcomeOf = async (command: object): Promise<unknown> => {
    const [session, commandId] = [randomUUID(), randomUUID()];
    const outcome = Promise.withResolvers<unknown>();
    system.bus.nats.subscribe(subjects.outcome(system.tenant, session, commandId), {
      max: 1,
      callback: (_error, { data }) => {
        outcome.resolve(JSON.parse(Buffer.from(data).toString()));
      },
    });
    const body = Buffer.from(JSON.stringify({ commandId, actor: 'test', ...command }));
    await system.bus.publisher.publish(subjects.inbox(system.tenant, session), body);
    return outcome.promise;
  };

  it('A26 a harness without a permission policy is refused, inline and out of AGENTS, and nothing is spawned', async () => {
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      await a.stop(await a.prompted());
    });
    const lax = { name: 'lax', tools: [], harness: { ...agent.spec.harness, permissionPolicy: undefined } } as never;
    const store = await AgentStore.open(system.bus);
    await store.put(system.tenant, lax);
    await store.put(system.tenant, agentSpecSchema.parse({ name: 'strict', tools: [], ...agent.spec }));
    store.close();
    const create = (from: { readonly name: string } | { readonly spec: never }) =>
      system.client.create({ agent: from, workspace: system.workspace, prompt: 'go' });
    const missing = 'spec.harness.permissionPolicy: ';
    const refused = create({ spec: lax });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    await expect(refused).rejects.toThrow(missing);
    expect(await outcomeOf({ kind: 'create', agent: { spec: lax }, workspace: system.workspace })).toMatchObject({
      status: 'refused',
      code: 'invalid',
      message: expect.stringContaining(missing) as unknown,
    });
    const strict = await create({ name: 'strict' }); // put behind the other: who finds it has seen both
    expect(await system.session(strict.session).endOf(strict.messageId)).toEqual({ kind: 'completed' });
    expect(await agent.methods()).toEqual(['initialize', 'session/new', 'session/prompt']);
    await expect(create({ name: 'lax' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await agent.methods()).toHaveLength(3);
  });

  it.each([
    ['required', 'error'],
    ['fresh', 'completed'],
  ] as const)('A25 an agent that cannot load, continuity %s: %s', async (continuity, kind) => {
    const { session } = await run(
      async (a) => {
        await a.stop(await a.prompted());
      },
      { continuity },
    );
    expect(await session.prompt('more')).toMatchObject({ kind });
    if (kind === 'error')
      expect(await session.data('turn.error')).toMatchObject([{ error: { name: 'Harness', code: 'cannot_load' } }]);
  });

  it('content that the agent does not advertise fails before the prompt', async () => {
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      await a.prompted();
    });
    const session = await system.create('harness', agent.spec);
    expect(await session.prompt([{ type: 'image', mediaType: 'image/png', base64: 'AAAA' }])).toMatchObject({
      kind: 'error',
      code: 'unsupported_content',
    });
    expect(await agent.methods()).toEqual(['initialize', 'session/new']);
  });

  it.each([
    ['exits 0', 'exit', 'child_gone', { code: 0, signal: null }],
    ['exits 1', 'crash', 'child_gone', { code: 1, signal: null }],
    ['is killed', 'kill', 'child_gone', { code: null, signal: 'SIGKILL' }],
    ['does not shake hands', 'hang', 'handshake_timeout', { code: null, signal: 'SIGTERM' }],
    ['is no program', 'missing', 'spawn', null],
  ])(
    'A37 an agent that %s: Transport, with its last words; what it said stays, its call is closed',
    async (_how, how, code, exit) => {
      const { agent, session, end, finished } = await run(
        async (a) => {
          process.stderr.write('fatal: out of luck\n');
          if (a.args === 'hang') await a.sleep(60_000);
          const prompt = await a.prompted();
          await a.say('half a ');
          await a.update('tool_call', { toolCallId: 'c1', title: 'Run' });
          await a.sleep(50);
          if (a.args === 'kill') process.kill(process.pid, 'SIGKILL');
          process.exit(a.args === 'crash' ? 1 : 0);
          await a.stop(prompt);
        },
        { script: how, ...(how === 'missing' ? { command: 'no-such-program-here' } : {}) },
      );
      expect(end).toMatchObject({ kind: 'error', code });
      const [{ error } = { error: undefined }] = await session.data('turn.error');
      expect(error?.name).toBe('Transport');
      expect(error?.message).toContain(how === 'missing' ? 'no-such-program-here' : 'fatal: out of luck');
      const hasSpoken = code === 'child_gone'; // The others never got as far as the prompt.
      expect(await session.data('assistant.message')).toMatchObject(
        hasSpoken ? [{ content: [{ text: 'half a ' }], finishReason: 'aborted' }] : [],
      );
      expect(await session.data('tool.result')).toMatchObject(
        hasSpoken ? [{ callId: 'c1', error: { code: 'interrupted' } }] : [],
      );
      expect((await agent.methods()).includes('session/prompt')).toBe(hasSpoken);
      expect(finished.exit).toEqual(exit);
      if (how !== 'missing') expect(finished.stderr).toBe('fatal: out of luck\n');
    },
  );

  it('A38 grandchildren that ignore SIGTERM are gone before the turn ends; only PATH, HOME, LANG and the spec are seen', async () => {
    const { session, end } = await run(
      async (a) => {
        const { spawn } = await import('node:child_process');
        const stubborn = spawn('/bin/sh', ['-c', 'trap "" TERM; sleep 60 & sleep 60'], { stdio: 'ignore' });
        const prompt = await a.prompted();
        process.on('SIGTERM', () => undefined);
        const { TOKEN, MODE, HOME } = a.env;
        await a.say(JSON.stringify({ pid: stubborn.pid, names: Object.keys(a.env), env: { TOKEN, MODE, HOME } }));
        await a.stop(prompt);
        await a.sleep(60_000);
      },
      { env: { TOKEN: 'env:HOME', MODE: 'plain' } },
    );
    expect(end).toEqual({ kind: 'completed' });
    const [message] = await session.data('assistant.message');
    const block = message?.content[0];
    const said = JSON.parse(block?.type === 'text' ? block.text : '{}') as {
      pid: number;
      names: string[];
      env: Record<string, string>;
    };
    const names = ['HOME', 'MODE', 'PATH', 'TOKEN'];
    expect(said.names.filter((name) => name !== 'LANG').sort()).toEqual(names);
    expect(said.env).toEqual({ TOKEN: process.env['HOME'], MODE: 'plain', HOME: process.env['HOME'] });
    expect(await isRunning(said.pid)).toBe(false);
  });

  it('A38 a line of more than 8 MiB ends the attempt as Protocol; of 10 MB of standard error the last 4 KiB are kept', async () => {
    const big = await run(async (a) => {
      await a.prompted();
      await a.raw('x'.repeat(64 * 1024 * 1024));
      await a.sleep(60_000);
    });
    expect(big.end).toMatchObject({ kind: 'error', code: 'frame_too_large' });
    expect(await big.session.data('turn.error')).toMatchObject([{ error: { name: 'Protocol' } }]);
    const loud = await run(async (a) => {
      const prompt = await a.prompted();
      const write = (words: string) => new Promise((resolve) => process.stderr.write(words, resolve));
      for (let n = 0; n < 10; n++) await write('e'.repeat(1_000_000));
      await write('the end'.padStart(4_096, '.'));
      await a.stop(prompt);
    });
    expect(loud.end).toEqual({ kind: 'completed' });
    expect(loud.finished.stderr).toBe('the end'.padStart(4_096, '.'));
  });

  it('A33 10,000 updates and an output of 1 MiB: in order, within the limits of a batch, with one end', async () => {
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      const prompt = await a.prompted();
      for (let n = 0; n < 10_000; n++) await a.update('current_mode_update', { currentModeId: `m${n}` });
      // Together more than a batch may have, each less than goes to the blob store.
      for (let n = 0; n < 20; n++) await a.update('session_info_update', { title: String(n).padEnd(100_000, 'x') });
      const call = { toolCallId: 'c', title: 'Big', status: 'completed', rawOutput: 'y'.repeat(1 << 20) };
      await a.update('tool_call', call);
      await a.stop(prompt);
    });
    const session = await system.create('harness', agent.spec);
    const finished = finishedOf(session.id);
    const replies: { size: number; kind: string; from: number; events: number }[] = [];
    const seen = system.bus.nats.subscribe(subjects.reply(system.tenant, session.id, 'acp'), {
      callback: (_error, message) => {
        const { kind, from, events } = JSON.parse(Buffer.from(message.data).toString()) as HarnessEvents;
        replies.push({ size: message.data.length, kind, from, events: (events as unknown[] | undefined)?.length ?? 0 });
      },
    });
    expect(await session.prompt('hi')).toEqual({ kind: 'completed' });
    await finished;
    seen.unsubscribe();
    const raw = await session.data('harness.raw');
    const valuesOf = (tag: string) => raw.filter(({ source }) => source.endsWith(tag)).map(({ value }) => value);
    expect(valuesOf('mode_update')).toEqual(Array.from({ length: 10_000 }, (_, n) => ({ currentModeId: `m${n}` })));
    expect(valuesOf('info_update')).toHaveLength(20);
    expect(await session.data('tool.result')).toMatchObject([
      {
        content: [{ type: 'blob', of: 'text', blob: { size: expect.any(Number) } }],
        output: { blob: { mediaType: 'application/json', size: (1 << 20) + 2 } },
      },
    ]);
    expect(replies.map(({ kind }) => kind).filter((kind) => kind === 'harness.finished')).toHaveLength(1);
    expect(replies.at(-1)?.kind).toBe('harness.finished');
    expect(Math.max(...replies.map(({ events }) => events))).toBeLessThanOrEqual(64);
    // Half of what the server takes, and what names the batch.
    expect(Math.max(...replies.map(({ size }) => size))).toBeLessThanOrEqual(system.bus.maxPayload / 2 + 1_024);
    let next = 0;
    for (const { from, events } of replies) {
      expect(from).toBe(next);
      next += events;
    }
    expect(await session.data('turn.end')).toHaveLength(1);
  }, 60_000);
});
