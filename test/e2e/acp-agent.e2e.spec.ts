import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '@jetloop/contracts';
import { textIn, type AcpEditor } from './support/acp-editor.js';
import { AcpSystem, calls, scripted } from './support/acp-system.js';
import { LiveFilter } from './support/live-filter.js';

const longText = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');

const says = (contains: string, rule: object, match: object = {}) => ({ match: { contains, ...match }, ...rule });

/** What the model does is what the prompt asks for. */
const targets = {
  obeys: scripted(
    // Longer than a machine that stalls takes for the few commands that come meanwhile.
    says('very slowly', { reply: { text: longText, reasoning: 'slow' }, pieceDelayMs: 60 }),
    says('slowly', { reply: { text: longText, reasoning: 'slow' }, pieceDelayMs: 20 }),
    says('in pieces', { reply: { text: longText, reasoning: 'slow' }, pieceDelayMs: 10 }),
    says('take your time', { reply: { text: longText }, pieceDelayMs: 400 }),
    says('at length', { reply: { text: 'long '.repeat(60_000) } }),
    says('look', { reply: { text: 'I have looked.' } }, { hasToolResult: true }),
    says('look', { reply: { text: 'Let me look.', toolCalls: [{ name: 'list_dir', arguments: { path: '.' } }] } }),
    says('sleep', { reply: { text: 'awake' } }, { hasToolResult: true }),
    says('sleep', calls({ name: 'bash', arguments: { command: 'echo started; sleep 60' } })),
    says('never stop', calls({ name: 'list_dir' })),
    says('be cut', { reply: { text: 'and so on and', finishReason: 'max-tokens' } }),
    says('refuse', { reply: { text: '', finishReason: 'content-filter' } }),
    says('fail', { error: { code: 'server_error', message: 'the provider is on fire', status: 500 } }),
    { reply: { text: 'hello to you', reasoning: 'let me greet' } },
  ),
  'fails-first': { ...scripted({ error: { code: 'server_error', message: 'down', status: 500 } }), retryCount: 0 },
};

const guard = `
name: guard
agents: ['*']
policies:
  - name: no-destruction
    seam: prompt-submit
    when: { prompt: { contains: destroy } }
    decide: { block: destructive prompts are not for agents }
`;

const agents = {
  obeys: { model: { chain: ['obeys'] }, tools: ['list_dir', 'bash'], limits: { maxSteps: 3 } },
  'has-no-budget': { model: { chain: ['obeys'] }, budgets: { tokens: 0 } },
  'falls-back': { model: { chain: ['fails-first', 'obeys'] } },
};

// The first test of an editor waits for its process to start.
jest.setTimeout(180_000);

let acp: AcpSystem;
beforeAll(async () => {
  acp = await AcpSystem.start({ targets, policies: [guard], agents });
});
afterEach(() => {
  acp.killEditors();
});
afterAll(() => acp.stop());

/** What the log says that the assistant said. */
async function recorded(id: string, type: 'text' | 'reasoning' = 'text'): Promise<string> {
  const messages = await acp.session(id).data('assistant.message');
  return messages
    .flatMap(({ content }) => content.flatMap((block) => (block.type === type ? [block.text] : [])))
    .join('');
}

describe('A41 initialize and errors', () => {
  it('A41 always answers version 1, and says what it can do', async () => {
    const editor = await acp.shared();
    for (const protocolVersion of [0, 1, 2, 99]) {
      const { result } = await editor.ask('initialize', { protocolVersion });
      expect(result).toMatchObject({
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
      });
    }
  });

  it('A41 refuses every request before initialize with -32600', async () => {
    const editor = acp.start('obeys');
    for (const method of ['session/new', 'session/load', 'session/prompt', 'session/list', 'nothing'])
      expect(await editor.ask(method, {})).toMatchObject({ error: { code: -32600 } });
    expect(await editor.ask('initialize', { protocolVersion: 1 })).toMatchObject({ result: { protocolVersion: 1 } });
    expect(await editor.newSession(acp.workspace)).toMatch(/^[\w-]+$/);
  });

  it('A41 names what is wrong with a request, and goes on', async () => {
    const editor = await acp.shared();
    const mcpServers: unknown[] = [];
    const code = async (method: string, params: unknown) => (await editor.ask(method, params)).error?.code;
    expect(await code('session/new', { cwd: 'relative', mcpServers })).toBe(-32602);
    expect(await code('session/new', { cwd: '/', mcpServers })).toBe(-32602);
    expect(await code('session/new', { cwd: `${acp.workspace}/../elsewhere`, mcpServers })).toBe(-32602);
    expect(await code('session/new', { mcpServers })).toBe(-32602);
    for (const sessionId of ['unknown', 'a.b', '*', ''])
      for (const method of ['session/load', 'session/resume', 'session/prompt', 'session/close', 'session/set_mode']) {
        const params = { sessionId, cwd: acp.workspace, mcpServers, prompt: [], modeId: 'm' };
        expect([method, sessionId, await code(method, params)]).toEqual([method, sessionId, -32002]);
      }
    expect(await code('session/delete', { sessionId: 'x' })).toBe(-32601);
    expect(await code('no/such/method', {})).toBe(-32601);
    const session = await editor.newSession(acp.workspace);
    const say = (...prompt: unknown[]) => code('session/prompt', { sessionId: session, prompt });
    expect(await say({ type: 'audio', data: 'AA==', mimeType: 'audio/wav' })).toBe(-32602);
    expect(await say({ type: 'text', text: ' ' })).toBe(-32602);
    expect(await say()).toBe(-32602);
    expect(await say({ type: 'text', text: 'x'.repeat(800_000) })).toBe(-32602);
    expect(await code('session/list', { cursor: 'no cursor' })).toBe(-32602);
    expect(await editor.prompted(session, 'hello')).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it('A41 answers lines that are no request, and goes on', async () => {
    const editor = await acp.shared();
    const broken: [string, number][] = [
      ['{"jsonrpc": "2.0", "id": 5, "method"', -32700],
      ['[{"jsonrpc": "2.0", "id": 5, "method": "session/new"}]', -32600],
      ['"text"', -32600],
      ['{"id": 1, "method": "session/new"}', -32600],
    ];
    for (const [line, code] of broken) {
      const from = editor.frames.length;
      editor.write(`${line}\n`);
      const { error } = await editor.until(({ id }) => id === null, line, from);
      expect([line, error?.code]).toEqual([line, code]);
    }
    editor.write(Buffer.from([0xff, 0xfe, 0x0a]));
    editor.write('\n\r\n');
    editor.notify('session/cancel', { sessionId: 'unknown' });
    editor.notify('no/such/notification', {});
    expect(await editor.newSession(acp.workspace)).toMatch(/^[\w-]+$/);
  });

  it('A41 says that there is no such agent', async () => {
    const editor = await acp.open('nobody');
    expect(await editor.ask('session/new', { cwd: acp.workspace, mcpServers: [] })).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('nobody'), data: { code: 'not_found' } },
    });
  });

  it('A41 takes images, links and embedded text as blocks of the prompt', async () => {
    const { editor, id, session } = await acp.begin();
    const prompt = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b.txt', text: 'inside', mimeType: 'text/plain' } },
    ];
    editor.request('session/prompt', { sessionId: id, prompt });
    await session.until('user.message');
    expect(await session.data('user.message')).toMatchObject([
      {
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', base64: 'AAAA', mediaType: 'image/png' },
          { type: 'resource', uri: 'file:///a.txt', mediaType: 'text/plain' },
          { type: 'resource', uri: 'file:///b.txt', mediaType: 'text/plain', text: 'inside' },
        ],
      },
    ]);
  });
});

describe('A42 text and order', () => {
  /** No update of a turn comes behind the answer to its prompt. */
  async function expectNoneAfter(editor: AcpEditor, id: string, answer: number): Promise<void> {
    await editor.call('session/list', { cwd: '/nowhere' });
    await editor.call('session/list', { cwd: '/nowhere' });
    expect(editor.updates(id, answer)).toEqual([]);
  }

  it('A42 every update comes before the answer and none after, tools in their order', async () => {
    const { editor, id } = await acp.begin();
    const answer = await editor.prompted(id, 'look around');
    expect(answer).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(
      editor.updates(id).map(({ sessionUpdate, status, content }) => status ?? content?.text ?? sessionUpdate),
    ).toEqual(['Let me look.', 'pending', 'in_progress', 'completed', 'I have looked.']);
    await expectNoneAfter(editor, id, editor.indexOf(answer));
    const [call, , result] = editor.updates(id).filter(({ toolCallId }) => toolCallId !== undefined);
    expect(call).toMatchObject({ toolCallId: '1.1.0', title: 'list_dir .', kind: 'read', rawInput: { path: '.' } });
    expect(result).toMatchObject({ toolCallId: '1.1.0', content: [{ type: 'content', content: { type: 'text' } }] });
  });

  it('A42 text comes while the model speaks, and each text once, as in the log', async () => {
    const { editor, id } = await acp.begin();
    const answer = await editor.prompted(id, 'slowly');
    const updates = editor.updates(id);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk').length).toBeGreaterThan(3);
    expect(textIn(updates)).toBe(longText);
    expect(textIn(updates)).toBe(await recorded(id));
    expect(textIn(updates, 'agent_thought_chunk')).toBe('slow');
    expect(textIn(updates, 'agent_thought_chunk')).toBe(await recorded(id, 'reasoning'));
    const ids = new Set(updates.map(({ sessionUpdate, messageId }) => `${sessionUpdate} ${messageId ?? 'none'}`));
    expect(ids.size).toBe(2);
    await expectNoneAfter(editor, id, editor.indexOf(answer));
  });

  it('A42 where live messages are lost, the log gives the rest', async () => {
    const filter = await LiveFilter.start(acp.system.natsUrl);
    try {
      const editor = await acp.open('obeys', { natsUrl: filter.url });
      const id = await editor.newSession(acp.workspace);
      const losses: readonly [string, (n: number) => boolean][] = [
        ['all', () => true],
        ['the first', (n) => n === 0],
        ['every third', (n) => n % 3 === 2],
        ['those after three', (n) => n >= 3],
      ];
      for (const [which, loses] of losses) {
        filter.lose(loses);
        const from = editor.frames.length;
        const answer = await editor.prompted(id, 'in pieces');
        expect(answer).toMatchObject({ result: { stopReason: 'end_turn' } });
        const updates = editor.updates(id, from);
        expect([which, textIn(updates), textIn(updates, 'agent_thought_chunk')]).toEqual([which, longText, 'slow']);
        expect([which, filter.lost]).not.toEqual([which, 0]);
      }
    } finally {
      filter.stop();
    }
  });

  it('A42 a text that is too large for the log is told whole, by a load too', async () => {
    const { editor, id } = await acp.begin();
    for (const tell of [
      () => editor.prompted(id, 'at length'),
      () => editor.ask('session/load', { sessionId: id, cwd: acp.workspace, mcpServers: [] }),
    ]) {
      const from = editor.frames.length;
      expect(await tell()).toMatchObject({ result: {} });
      expect(textIn(editor.updates(id, from))).toBe('long '.repeat(60_000));
    }
  });

  it('A42 a target that failed before it spoke leaves no text behind', async () => {
    const { editor, id } = await acp.begin('falls-back');
    await editor.prompted(id, 'in pieces');
    expect(textIn(editor.updates(id))).toBe(longText);
  });
});

describe('A43 how a turn ended', () => {
  it.each([
    ['obeys', 'hello', 'end_turn'],
    ['obeys', 'be cut', 'max_tokens'],
    ['obeys', 'never stop', 'max_turn_requests'],
    ['has-no-budget', 'hello', 'max_turn_requests'],
    ['obeys', 'refuse', 'refusal'],
    ['obeys', 'destroy everything', 'refusal'],
  ])('A43 of %s at %j is answered with %s, and the next prompt runs', async (agent, text, stopReason) => {
    const { editor, id } = await acp.begin(agent);
    expect(await editor.prompted(id, text)).toMatchObject({ result: { stopReason } });
    expect(await editor.prompted(id, text)).toMatchObject({ result: { stopReason } });
  });

  it('A43 a rejected prompt says why', async () => {
    const { editor, id } = await acp.begin();
    expect(await editor.prompted(id, 'destroy it')).toMatchObject({
      result: { _meta: { jetloop: { end: 'rejected', reason: 'destructive prompts are not for agents' } } },
    });
  });

  it('A43 an error is answered with -32603, its name and its code, and the next prompt runs', async () => {
    const { editor, id, session } = await acp.begin();
    const { error } = await editor.prompted(id, 'fail');
    const [failure] = await session.data('turn.error');
    expect(error).toMatchObject({
      code: -32603,
      message: failure?.error.message,
      data: { name: failure?.error.name, code: 'server_error' },
    });
    expect(await editor.prompted(id, 'fail again')).toMatchObject({ error: { code: -32603 } });
  });

  it('A43 a session that is closed elsewhere answers cancelled, and refuses the next prompt', async () => {
    const { editor, id, session } = await acp.begin();
    const prompt = editor.prompt(id, 'take your time');
    await session.until('step.start');
    await acp.system.client.closeSession(id);
    expect(await editor.response(prompt)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(await editor.prompted(id, 'hello')).toMatchObject({ error: { code: -32600, data: { code: 'closed' } } });
  });
});

describe('A45 cancel', () => {
  const cancelled = { result: { stopReason: 'cancelled' } };

  /** Cancels, and expects exactly the one answer, and that the next prompt runs. */
  async function cancel(editor: AcpEditor, id: string, request: number): Promise<void> {
    editor.notify('session/cancel', { sessionId: id });
    expect(await editor.response(request)).toMatchObject(cancelled);
    await editor.call('session/list', { cwd: '/nowhere' });
    expect(editor.frames.filter((frame) => frame.id === request)).toHaveLength(1);
    expect(await editor.prompted(id, 'hello')).toMatchObject({ result: { stopReason: 'end_turn' } });
  }

  it('A45 while it streams', async () => {
    const { editor, id, session } = await acp.begin();
    const request = editor.prompt(id, 'take your time');
    await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'text');
    await cancel(editor, id, request);
    expect(await session.data('turn.end')).toMatchObject([
      { reason: { kind: 'aborted' } },
      { reason: { kind: 'completed' } },
    ]);
    expect(await recorded(id)).toBe(textIn(editor.updates(id)));
  });

  it('A45 in a tool, whose call fails', async () => {
    const { editor, id } = await acp.begin();
    const request = editor.prompt(id, 'sleep');
    await editor.untilUpdate(id, ({ status }) => status === 'in_progress', 'a running tool');
    await cancel(editor, id, request);
    const calls = editor.updates(id).filter(({ sessionUpdate }) => sessionUpdate.startsWith('tool_call'));
    expect(calls.at(-1)).toMatchObject({ sessionUpdate: 'tool_call_update', status: 'failed' });
  });

  it('A45 at once, in the same write as the prompt, and twice', async () => {
    const { editor, id, session } = await acp.begin();
    const request = editor.prompt(id, 'take your time');
    editor.notify('session/cancel', { sessionId: id });
    await cancel(editor, id, request);
    const begun = (await session.data('step.start')).length;
    const second = editor.prompt(id, 'take your time again');
    await session.until('step.start', begun + 1);
    await cancel(editor, id, second);
  });

  it('A45 while it waits behind a turn of somebody else, which goes on', async () => {
    const { editor, id, session } = await acp.begin();
    const other = await acp.system.client.prompt(id, 'first, very slowly');
    await session.until('step.start');
    const request = editor.prompt(id, 'second');
    await session.until('message.queued', 2);
    editor.notify('session/cancel', { sessionId: id });
    expect(await editor.response(request)).toMatchObject(cancelled);
    expect(await session.data('message.discarded')).toHaveLength(1);
    expect(await session.endOf(other.messageId)).toEqual({ kind: 'completed' });
  });

  it('A45 by $/cancel_request it is answered as cancelled, no error', async () => {
    const { editor, id, session } = await acp.begin();
    const request = editor.prompt(id, 'take your time');
    await session.until('step.start');
    editor.notify('$/cancel_request', { requestId: request });
    expect(await editor.response(request)).toMatchObject(cancelled);
  });

  it('A45 idle it does nothing', async () => {
    const { editor, id, session } = await acp.begin();
    editor.notify('session/cancel', { sessionId: id });
    expect(await editor.prompted(id, 'hello')).toMatchObject({ result: { stopReason: 'end_turn' } });
    editor.notify('session/cancel', { sessionId: id });
    expect(await editor.prompted(id, 'hello')).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(await session.types()).not.toContain('turn.cancelling');
  });

  it('A45 crossing the end of the turn: one answer, never an error', async () => {
    const { editor, id } = await acp.begin();
    for (let round = 0; round < 10; round++) {
      const request = editor.prompt(id, 'hello');
      await sleep(round * 4);
      editor.notify('session/cancel', { sessionId: id });
      const { result } = await editor.response(request);
      expect(['cancelled', 'end_turn']).toContain((result as { stopReason: string }).stopReason);
    }
  });

  it('A45 of a turn that was begun elsewhere', async () => {
    const { editor, id, session } = await acp.begin();
    const { messageId } = await acp.system.client.prompt(id, 'take your time');
    await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'text');
    editor.notify('session/cancel', { sessionId: id });
    expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
  });
});

describe('A46 more than one', () => {
  it('A46 a second prompt is refused while one is open, and the first one goes on', async () => {
    const { editor, id } = await acp.begin();
    const first = editor.prompt(id, 'very slowly');
    expect(await editor.prompted(id, 'and me')).toMatchObject({ error: { code: -32600 } });
    expect(await editor.ask('session/load', { sessionId: id, cwd: acp.workspace, mcpServers: [] })).toMatchObject({
      error: { code: -32600 },
    });
    expect(await editor.response(first)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(textIn(editor.updates(id))).toBe(longText);
    expect(await editor.prompted(id, 'now me')).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it('A46 two sessions at once, each with its own updates; reading goes on while they wait', async () => {
    const editor = await acp.shared();
    const [a, b] = [await editor.newSession(acp.workspace), await editor.newSession(acp.workspace)];
    const requests = [editor.prompt(a, 'very slowly'), editor.prompt(b, 'very slowly')];
    await editor.untilUpdate(a, () => true, 'text of a');
    await editor.untilUpdate(b, () => true, 'text of b');
    await editor.call('session/list', {});
    expect(editor.frames.some(({ id }) => id !== undefined && requests.includes(Number(id)))).toBe(false);
    for (const request of requests)
      expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'end_turn' } });
    for (const id of [a, b]) expect(textIn(editor.updates(id))).toBe(longText);
  });

  it('A46 what others say in the session is shown, own prompts are not', async () => {
    const { editor, id, session } = await acp.begin();
    await editor.prompted(id, 'mine');
    const { messageId } = await acp.system.client.prompt(id, 'yours');
    await session.endOf(messageId);
    await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'user_message_chunk', 'a foreign prompt');
    expect(textIn(editor.updates(id), 'user_message_chunk')).toBe('yours');
    expect(textOf((await session.data('user.message'))[0]?.content ?? [])).toBe('mine');
  });
});
