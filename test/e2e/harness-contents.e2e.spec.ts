import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processIo, runProgram } from '@jetloop/cli';
import { BlobStore } from '@jetloop/messaging';
import { ScriptedAgent, type Agent } from './support/acp/scripted-agent.js';
import { TestSystem } from './support/test-system.js';

const KEY = 'sk-live "0123456789"\\end';
const PEM = '-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----';

describe('what an external agent is given and tells', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ harnessTimes: { terminateMs: 300, killMs: 600 } });
    process.env['JETLOOP_TEST_KEY'] = KEY;
    await writeFile(join(system.workspace, 'key.pem'), `${PEM}\n`);
  });
  afterAll(async () => {
    delete process.env['JETLOOP_TEST_KEY'];
    await system.stop();
  });

  it('sees its secrets, and none of them reaches the log: not in frames, calls, messages, errors, replays or last words', async () => {
    const agent = await ScriptedAgent.write(
      system.workspace,
      async (a) => {
        const { KEY: key = '', PEM: pem = '' } = a.env;
        await a.raw(`key ${key}\n`);
        await a.raw(Buffer.concat([Buffer.from([0xff]), Buffer.from(key), Buffer.from('\n')]));
        await a.initialize({ loadSession: true });
        const begun = await Promise.race([a.next('session/new'), a.next('session/load')]);
        const isLoad = begun.params.sessionId === a.session;
        if (isLoad) await a.say(`replayed ${key}`);
        await a.answer(begun, isLoad ? {} : { sessionId: a.session, _meta: { [key]: pem } });
        const prompt = await a.next('session/prompt');
        await a.say(`begin ${key.slice(0, 9)}`);
        await a.say(`${key.slice(9)} end, ${pem}`);
        await a.update('plan', { entries: [{ content: key, priority: 'high', status: 'pending' }] });
        await a.update('tool_call', {
          toolCallId: 'c1',
          title: `curl ${key}`,
          rawInput: { header: [pem, { [key]: 1 }] },
        });
        await a.update('tool_call_update', { toolCallId: 'c1', status: 'completed', rawOutput: `said ${key}` });
        await a.request('q', 'fs/read_text_file', { path: key });
        await a.ask('p', [{ optionId: 'r', name: `No, ${key}`, kind: 'reject_once' }]);
        process.stderr.write(`${'x'.repeat(4_090)}${pem.slice(0, 20)}`);
        await a.sleep(50);
        process.stderr.write(`${pem.slice(20)} and ${key}${'y'.repeat(4_060)}`);
        await a.sleep(50);
        await a.fail(prompt, { code: -32000, message: `refused ${key}`, data: { key } });
      },
      { env: { KEY: 'env:JETLOOP_TEST_KEY', PEM: `file:${join(system.workspace, 'key.pem')}`, MODE: 'verbose mode' } },
    );
    const session = await system.create('none', agent.spec);
    for (const text of ['go', 'again']) expect(await session.prompt(text)).toMatchObject({ kind: 'error' });
    const events = await session.events();
    const blobs = new BlobStore(system.bus);
    const [replay] = await Promise.all(
      events.flatMap(({ type, data }) => {
        const { source, value } = data as { source?: string; value?: { blob: { digest: string } } };
        const isReplay = type === 'harness.raw' && source === 'session/load/replay';
        return isReplay ? [blobs.get(system.tenant, session.id, value?.blob.digest ?? '')] : [];
      }),
    );
    const told = `${JSON.stringify(events)}${Buffer.from(replay ?? []).toString()}`;
    expect(told).toContain('replayed [secret]');
    for (const part of [
      '0123456789',
      'BEGIN KEY',
      'ijklmnop',
      'END KEY',
      Buffer.from(KEY).toString('base64').slice(8, 24),
    ])
      expect([part, told.includes(part)]).toEqual([part, false]);
    expect(await session.data('assistant.message')).toContainEqual(
      expect.objectContaining({ content: [{ type: 'text', text: 'begin [secret] end, [secret]' }] }),
    );
    expect(await session.data('tool.call')).toContainEqual(
      expect.objectContaining({ name: 'curl [secret]', effective: { header: ['[secret]', { '[secret]': 1 }] } }),
    );
    expect((await session.data('turn.error'))[0]?.error.message).toMatch(/refused \[secret\].*y+$/s);
    const sql = await system.sql(`select arguments, result_text from tool_calls where session_id = '${session.id}'`);
    expect(JSON.stringify(sql)).not.toContain('0123456789');
  });

  it('is given the MCP servers that its harness names, secrets put in, which stay out of the log', async () => {
    const agent = await ScriptedAgent.write(
      system.workspace,
      async (a) => {
        await a.initialize({ loadSession: true });
        const begun = await Promise.race([a.next('session/new'), a.next('session/load')]);
        await a.answer(
          begun,
          begun.params.sessionId === a.session ? {} : { sessionId: a.session, _meta: begun.params },
        );
        const prompt = await a.next('session/prompt');
        await a.say(JSON.stringify(begun.params));
        await a.stop(prompt);
      },
      { mcpServers: ['web', 'local'] },
    );
    const web = {
      url: 'https://mcp.example.org/mcp',
      headers: { Authorization: 'Bearer env:JETLOOP_TEST_KEY', Plain: 'x y' },
    };
    const local = {
      command: 'mcp-server',
      args: ['--stdio'],
      env: { PEM: `file:${join(system.workspace, 'key.pem')}` },
    };
    const mcpServers = { web, local, unused: { command: 'nobody', env: { KEY: 'env:NOT_THERE' } } };
    const session = await system.create('none', { ...agent.spec, mcpServers });
    for (const text of ['go', 'again']) expect(await session.prompt(text)).toEqual({ kind: 'completed' });
    const given = [
      {
        type: 'http',
        name: 'web',
        url: web.url,
        headers: [
          { name: 'Authorization', value: `Bearer ${KEY}` },
          { name: 'Plain', value: 'x y' },
        ],
      },
      { name: 'local', command: 'mcp-server', args: ['--stdio'], env: [{ name: 'PEM', value: PEM }] },
    ];
    const written = (await agent.wire()).map((line) => JSON.parse(line) as { method: string; params: object });
    const places = written.filter(({ method }) => method === 'session/new' || method === 'session/load');
    expect(places.map(({ method, params }) => [method, params])).toEqual([
      ['session/new', { cwd: system.workspace, mcpServers: given }],
      ['session/load', { sessionId: 'agent-1', cwd: system.workspace, mcpServers: given }],
    ]);
    const log = JSON.stringify(await session.events());
    expect(log).toContain('Bearer [secret]');
    for (const part of ['0123456789', 'BEGIN KEY', 'ijklmnop'])
      expect([part, log.includes(part)]).toEqual([part, false]);
    const sql = JSON.stringify(await system.sql(`select text from messages where session_id = '${session.id}'`));
    expect(sql).not.toContain('0123456789');
  });

  it('is not started where a secret is not there: its name is told', async () => {
    const agent = await ScriptedAgent.write(system.workspace, () => Promise.resolve(), { mcpServers: ['web'] });
    const headers = { Authorization: 'Bearer env:JETLOOP_NOT_THERE' };
    const mcpServers = { web: { url: 'https://mcp.example.org/mcp', headers } };
    const session = await system.create('none', { ...agent.spec, mcpServers });
    expect(await session.prompt('go')).toMatchObject({
      kind: 'error',
      code: 'spawn',
      message: expect.stringContaining('env:JETLOOP_NOT_THERE') as unknown,
    });
    expect(await agent.wire()).toEqual([]);
  });

  it('A8 the final text is what it said in the attempt that ended well: no thought, and nothing of an attempt before', async () => {
    const agents: Record<string, (a: Agent) => Promise<void>> = {
      thinks: async (a) => {
        const prompt = await a.prompted();
        await a.update('agent_thought_chunk', { content: { type: 'text', text: 'hmm' } });
        await a.stop(prompt);
      },
      talks: async (a) => {
        const prompt = await a.prompted();
        await a.update('agent_thought_chunk', { content: { type: 'text', text: 'hmm' } });
        for (const messageId of ['m1', 'm2'])
          await a.update('agent_message_chunk', { messageId, content: { type: 'text', text: `It is ${messageId}. ` } });
        await a.stop(prompt);
      },
      'dies-first': async (a) => {
        const { existsSync, writeFileSync } = await import('node:fs');
        const prompt = await a.prompted();
        if (existsSync(a.args as string)) {
          await a.stop(prompt);
          return;
        }
        writeFileSync(a.args as string, '');
        await a.update('agent_message_chunk', { content: { type: 'text', text: 'half' } });
        process.exit(1);
      },
    };
    const more = { script: join(system.workspace, 'died'), maxAttempts: 2, continuity: 'fresh' as const };
    for (const [name, script] of Object.entries(agents))
      await system.putAgent(name, [], (await ScriptedAgent.write(system.workspace, script, more)).spec);
    const calls = Object.keys(agents).map((agent) => ({ name: 'spawn_agent', arguments: { agent, prompt: 'go' } }));
    const parent = await system.create([{ calls }, { text: 'heard' }], { tools: ['spawn_agent'] });
    expect(await parent.prompt('go')).toEqual({ kind: 'completed' });
    const none = [{ type: 'text', text: '(the agent gave no answer)' }];
    expect((await parent.data('tool.result')).map(({ isError, content }) => ({ isError, content }))).toEqual([
      { isError: false, content: none },
      { isError: false, content: ['m1', 'm2'].map((id) => ({ type: 'text', text: `It is ${id}. ` })) },
      { isError: false, content: none },
    ]);
  });

  it('gets a prompt that is too large for the log whole', async () => {
    const text = `${'the same again. '.repeat(25_000)}the needle`;
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      const prompt = await a.prompted();
      const [block] = prompt.params.prompt as [{ text: string }];
      await a.say(`${block.text.length} characters, ${block.text.slice(-10)}`);
      await a.say(block.text, { messageId: 'echo' });
      await a.stop(prompt);
    });
    const session = await system.create('none', agent.spec);
    expect(await session.prompt(text)).toEqual({ kind: 'completed' });
    expect(await session.data('user.message')).toMatchObject([{ content: [{ type: 'blob', of: 'text' }] }]);
    const [counted, echo] = await session.data('assistant.message');
    expect(counted).toMatchObject({ content: [{ text: `${text.length} characters, the needle` }] });
    // What it says at that length stands there by reference like anybody's, and is had back the same way.
    expect(echo).toMatchObject({ content: [{ type: 'blob', of: 'text' }] });
    expect(await system.client.restore(session.id, echo?.content ?? [])).toEqual([{ type: 'text', text }]);
  });

  it('jetloop show, and SQL, have its turn as they have one of a model', async () => {
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      const prompt = await a.prompted();
      await a.update('tool_call', { toolCallId: 'c1', title: 'list_dir', rawInput: { path: '.' } });
      await a.update('tool_call_update', { toolCallId: 'c1', status: 'completed', rawOutput: 'a.txt' });
      await a.say('One file.');
      await a.stop(prompt);
    });
    const external = await system.create('none', agent.spec);
    const native = await system.create(
      [{ calls: [{ name: 'list_dir', arguments: { path: '.' } }] }, { text: 'One file.' }],
      {
        tools: ['list_dir'],
      },
    );
    for (const session of [external, native]) expect(await session.prompt('look')).toEqual({ kind: 'completed' });
    const show = async (id: string) => {
      let text = '';
      const out = { isTTY: false, color: false, write: (piece: string) => void (text += piece) };
      const args = ['show', id, '--tenant', system.tenant, '--nats', system.natsUrl];
      expect(await runProgram(args, { ...processIo(), out })).toBe(0);
      return text.split('\n').map((line) => line.replace(/^ *\+[\d,]+ ms +\d+ +/, ''));
    };
    const lines = await show(external.id);
    expect(lines).toContainEqual(expect.stringMatching(/^harness\.raw +session\/new \{/));
    expect(lines).toContainEqual(expect.stringMatching(/^tool\.call +list_dir /));
    expect(lines).toContainEqual(expect.stringMatching(/^assistant\.message +"One file\."/));
    const typesOf = (all: readonly string[]) => new Set(all.map((line) => line.split(' ')[0]));
    const shown = typesOf(lines);
    for (const type of typesOf(await show(native.id)))
      if (type !== 'tools.listed') expect([type, shown.has(type)]).toEqual([type, true]);
    const queries = [
      'select turn, trigger, end_reason from turns',
      "select role, text from messages where text <> ''",
      'select name, is_error, decision from tool_calls',
    ];
    for (const query of queries) {
      const [of, like] = await Promise.all(
        [external, native].map(({ id }) => {
          const where = `tenant = '${system.tenant}' and session_id = '${id}'`;
          return system.sql(query.includes('where') ? `${query} and ${where}` : `${query} where ${where}`);
        }),
      );
      expect([query, of]).toEqual([query, like]);
    }
  });
});
