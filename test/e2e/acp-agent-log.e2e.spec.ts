import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { agentSpecSchema, type Commit, type SessionEvent } from '@jetloop/contracts';
import { Journal } from '@jetloop/messaging';
import type { ModelScript } from '@jetloop/testing';
import { textIn, type AcpEditor, type UpdateFrame } from './support/acp-editor.js';
import { AcpSystem, scripted } from './support/acp-system.js';
import { gate } from './support/gate.js';

const longText = Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ');

const says = (contains: string, rule: object, match: object = {}) => ({ match: { contains, ...match }, ...rule });

/** What the model does is what the prompt asks for. */
const targets = {
  obeys: scripted(
    says('look', { reply: { text: longText } }, { hasToolResult: true }),
    says('look', { reply: { toolCalls: [{ name: 'list_dir', arguments: { path: '.' } }] } }),
    says('in pieces', { reply: { text: longText }, pieceDelayMs: 5 }),
    says('slowly', { reply: { text: longText }, pieceDelayMs: 100 }),
    { reply: { text: 'hello to you', reasoning: 'let me greet' } },
  ),
};
const agents = { obeys: { model: { chain: ['obeys'] }, tools: ['list_dir'] } };

/** Looks, says the first half of its text, and the second one when it may. */
let pause = gate();
const halves = [longText.slice(0, 100), longText.slice(100)] as const;
const stops: ModelScript = ({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return { text: [halves[0], pause.opened, halves[1]] };
  const asks = JSON.stringify(messages.at(-1)).includes('look');
  return asks ? { calls: [{ name: 'list_dir', arguments: { path: '.' } }] } : { text: 'hello to you' };
};

/** Another process than the one that sessions begin in. */
let other: AcpEditor;
// The first test of an editor waits for its process to start.
jest.setTimeout(180_000);

let acp: AcpSystem;
beforeAll(async () => {
  acp = await AcpSystem.start({ targets, agents });
  await acp.system.putAgent('stops', stops, { tools: ['list_dir'] });
  other = await acp.shared('obeys', 1);
});
afterEach(() => {
  acp.killEditors();
});
afterAll(() => acp.stop());

const at = (id: string) => ({ sessionId: id, cwd: acp.workspace, mcpServers: [] });

/** An update as a person sees it: no matter in how many pieces a text came. */
function seen(updates: readonly UpdateFrame[]): string[] {
  const lines: string[] = [];
  let last = '';
  for (const { sessionUpdate, messageId, toolCallId, status, content } of updates) {
    const key = `${sessionUpdate} ${messageId ?? ''}`;
    if (content?.text !== undefined && key === last) lines.push(`${lines.pop() ?? ''}${content.text}`);
    else lines.push(`${sessionUpdate} ${content?.text ?? `${toolCallId ?? ''} ${status ?? ''}`}`);
    last = key;
  }
  return lines;
}

describe('A47 load, resume, list, close', () => {
  it('A47 load tells the whole log once, in order, before its answer, as it was told when it happened', async () => {
    const { editor, id } = await acp.begin();
    await editor.prompted(id, 'look');
    await editor.prompted(id, 'two');
    const live = seen(editor.updates(id));
    const next = other;
    const answer = await next.ask('session/load', at(id));
    expect(answer).toMatchObject({ result: {} });
    const told = seen(next.updates(id, 0, next.indexOf(answer)));
    expect(told.filter((line) => !line.startsWith('user_message_chunk'))).toEqual(live);
    expect(told[0]).toBe('user_message_chunk look');
    expect(told).toHaveLength(live.length + 2);
    expect(await next.prompted(id, 'three')).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(
      next.updates(id, next.indexOf(answer)).some(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk'),
    ).toBe(false);
  });

  it('A47 a second load on the same connection tells all of it again, once', async () => {
    const { editor, id } = await acp.begin();
    await editor.prompted(id, 'one');
    for (const _ of [1, 2]) {
      const from = editor.frames.length;
      await editor.call('session/load', at(id));
      expect(seen(editor.updates(id, from))).toEqual([
        'user_message_chunk one',
        'agent_thought_chunk let me greet',
        'agent_message_chunk hello to you',
      ]);
    }
    const from = editor.frames.length;
    await editor.prompted(id, 'two');
    expect(textIn(editor.updates(id, from))).toBe('hello to you');
  });

  it('A47 resume tells nothing of what was, and goes on', async () => {
    const { editor, id } = await acp.begin();
    await editor.prompted(id, 'one');
    const next = other;
    expect(await next.ask('session/resume', at(id))).toMatchObject({ result: {} });
    expect(next.updates(id)).toEqual([]);
    await next.prompted(id, 'two');
    expect(textIn(next.updates(id))).toBe('hello to you');
  });

  it('A47 close answers the open prompt as cancelled, detaches, and a later load works', async () => {
    const { editor, id, session } = await acp.begin();
    const request = editor.prompt(id, 'slowly');
    await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'text');
    const close = await editor.ask('session/close', { sessionId: id });
    const answer = await editor.response(request);
    expect(answer).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(editor.indexOf(answer)).toBeLessThan(editor.indexOf(close));
    expect(await session.types()).not.toContain('session.closed');
    expect(await editor.prompted(id, 'two')).toMatchObject({ error: { code: -32002 } });
    const from = editor.frames.length;
    await editor.call('session/load', at(id));
    expect(textIn(editor.updates(id, from), 'user_message_chunk')).toBe('slowly');
    expect(await editor.ask('session/close', { sessionId: id })).toMatchObject({ result: {} });
    expect(await editor.ask('session/close', { sessionId: id })).toMatchObject({ error: { code: -32002 } });
  });

  it('A47 list gives the sessions of a folder in pages of 50, the newest first', async () => {
    const cwd = `${acp.workspace}/listed`;
    const editor = await acp.shared();
    const created: string[] = [];
    for (let n = 0; n < 53; n++) created.unshift(await editor.newSession(cwd));
    await editor.prompted(created[0] ?? '', 'Name me\nplease');
    const first = await editor.call<{ sessions: { sessionId: string }[]; nextCursor: string }>('session/list', { cwd });
    expect(first.sessions).toHaveLength(50);
    expect(first.sessions[0]).toMatchObject({ cwd, title: 'Name me', updatedAt: expect.any(String) });
    const { sessions, nextCursor } = await editor.call<typeof first>('session/list', { cwd, cursor: first.nextCursor });
    expect(nextCursor).toBeUndefined();
    expect([...first.sessions, ...sessions].map(({ sessionId }) => sessionId)).toEqual(created);
    expect(await editor.call('session/list', { cwd: `${cwd}/not` })).toEqual({ sessions: [] });
  });

  it("A47 another tenant's session is unknown, and in no list", async () => {
    const { id } = await acp.begin();
    const stranger = await acp.open('obeys', { tenant: 'somebody-else' });
    for (const method of ['session/load', 'session/resume'])
      expect(await stranger.ask(method, at(id))).toMatchObject({ error: { code: -32002 } });
    expect(await stranger.call('session/list', {})).toEqual({ sessions: [] });
  });

  it('A47 a folder that is not the one of the session is refused, and nothing is told', async () => {
    const { editor, id } = await acp.begin();
    await editor.prompted(id, 'one');
    const next = other;
    const answer = await next.ask('session/load', { ...at(id), cwd: `${acp.workspace}/other` });
    expect(answer).toMatchObject({ error: { code: -32602 } });
    expect(next.updates(id)).toEqual([]);
  });
});

describe('A48 an editor that goes away', () => {
  it.each(['SIGKILL', 'end of input'])(
    'A48 (%s) the turn goes on; a load in it gets the rest, no gap, no repeat',
    async (how) => {
      pause = gate();
      const { editor, id, session } = await acp.beginIn(await acp.open('stops'));
      editor.prompt(id, 'look');
      await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'text');
      if (how === 'SIGKILL') editor.kill();
      else expect(await editor.end()).toBe(0);
      const next = other;
      await next.call('session/load', at(id));
      pause.open();
      await session.until('turn.end');
      await next.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'the rest');
      expect(await session.data('turn.end')).toMatchObject([{ reason: { kind: 'completed' } }]);
      expect(seen(next.updates(id))).toEqual([
        'user_message_chunk look',
        'tool_call 1.1.0 pending',
        'tool_call_update 1.1.0 in_progress',
        'tool_call_update 1.1.0 completed',
        `agent_message_chunk ${longText}`,
      ]);
      expect(await next.prompted(id, 'two')).toMatchObject({ result: { stopReason: 'end_turn' } });
    },
  );

  it('A48 a resume in a turn gets what comes, as a message of its own', async () => {
    pause = gate();
    const { editor, id, session } = await acp.beginIn(await acp.open('stops'));
    editor.prompt(id, 'look');
    const chunk = await editor.untilUpdate(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk', 'text');
    editor.kill();
    const next = other;
    await next.call('session/resume', at(id));
    pause.open();
    await session.until('turn.end');
    const rest = await next.untilUpdate(id, () => true, 'the rest');
    expect(seen(next.updates(id))).toEqual([`agent_message_chunk ${longText}`]);
    expect(rest.messageId).not.toBe(chunk.messageId);
  });

  it('A48 a prompt whose pipe is closed behind it is accepted, and requests before it are answered', async () => {
    const editor = acp.start('obeys');
    const { id } = await acp.begin();
    await editor.call('initialize', { protocolVersion: 1 });
    editor.request('session/load', at(id));
    editor.request('session/list', { cwd: '/nowhere' });
    await editor.response(2);
    editor.prompt(id, 'last words');
    editor.request('session/list', { cwd: '/nowhere' });
    expect(await editor.end()).toBe(0);
    expect(
      editor.frames.filter(({ id: answered }) => answered !== undefined).map(({ id: answered }) => answered),
    ).toEqual(expect.arrayContaining([1, 2, 3, 5]));
    await acp.session(id).until('turn.end');
    expect(await acp.session(id).data('user.message')).toMatchObject([{ content: [{ text: 'last words' }] }]);
  });
});

/** A finished session of so many tool results, each of so many bytes, as the journal would have it. */
async function recordedSession(id: string, results: number, bytes: number): Promise<void> {
  const agent = agentSpecSchema.parse({ name: 'obeys', ...agents.obeys });
  const position = (n: number) => ({ turn: 1, step: 1, n, callId: `c${n}` });
  const source = { kind: 'user' as const };
  const events: SessionEvent[] = [
    { type: 'session.created', data: { agent, source: 'startup', workspace: acp.workspace } },
    {
      type: 'message.queued',
      data: { messageId: 'm1', lane: 'turn', content: [{ type: 'text', text: 'go' }], source },
    },
    { type: 'turn.start', data: { turn: 1, trigger: { kind: 'message', source }, messageIds: ['m1'] } },
    { type: 'user.message', data: { turn: 1, messageId: 'm1', content: [{ type: 'text', text: 'go' }], source } },
    { type: 'step.start', data: { turn: 1, step: 1 } },
    ...Array.from({ length: results }, (_, n): SessionEvent[] => [
      {
        type: 'tool.call',
        data: { ...position(n), name: 'list_dir', arguments: '{}', effective: {}, decision: 'allow' },
      },
      {
        type: 'tool.result',
        data: {
          ...position(n),
          content: [{ type: 'text', text: `${n} `.padEnd(bytes, 'x') }],
          isError: false,
          durationMs: 1,
        },
      },
    ]).flat(),
    { type: 'step.end', data: { turn: 1, step: 1 } },
    { type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } },
  ];
  const journal = new Journal(acp.system.bus);
  const size = Math.max(1, Math.floor(200_000 / (bytes + 500)));
  let last = 0;
  for (let first = 0; first < events.length; first += size) {
    const commit: Commit = {
      ...{
        tenant: acp.system.tenant,
        session: id,
        causation: `c${first}`,
        actor: 'test',
        at: new Date().toISOString(),
      },
      events: events
        .slice(first, first + size)
        .map((event, index) => ({ ...event, sequence: first + index, version: 1 })),
    };
    last = Number(await journal.commit(commit, last));
  }
}

describe('A49 a slow editor', () => {
  it('A49 gets every durable update in the end, no live ones meanwhile, and the log is read no further than it reads', async () => {
    const [results, bytes] = [400, 60_000];
    await recordedSession('slow', results, bytes);
    const editor = await acp.open('obeys');
    const live = await editor.newSession(acp.workspace);
    const before = await editor.bytes('rchar');
    editor.child.stdout.pause();
    const request = editor.request('session/load', at('slow'));
    await editor.settled(12_000_000);
    // Of 24 MB: 8 MiB that wait for the reader, and the page of the log at hand.
    const read = (await editor.bytes('rchar')) - before;
    expect(read).toBeLessThan(20_000_000);
    // Another session of the same editor, whose model speaks in many pieces now.
    const prompt = editor.prompt(live, 'in pieces');
    await acp.session(live).until('turn.end');
    editor.child.stdout.resume();
    await editor.response(request);
    const completed = editor.updates('slow').filter(({ status }) => status === 'completed');
    expect(completed.map(({ toolCallId }) => toolCallId)).toEqual(
      Array.from({ length: results }, (_, n) => `1.1.${n}`),
    );
    expect(await editor.response(prompt)).toMatchObject({ result: { stopReason: 'end_turn' } });
    const chunks = editor.updates(live).filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    expect(chunks.map(({ content }) => content?.text)).toEqual([longText]);
  });
});
