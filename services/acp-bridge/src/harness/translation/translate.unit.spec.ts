import { describe, expect, it } from '@jest/globals';
import type { Json } from '@jetloop/contracts';
import { deriveMessages } from '@jetloop/session';
import { chunk, plain, Script, SESSION, sources, update } from './translated.fixture.spec.js';

describe('frames of an external agent', () => {
  it('A6 a chunk of the agent is one live delta, and nothing durable yet', () => {
    const translated = new Script().say(chunk('agent_message_chunk', 'Hello', { messageId: 'm1' }));
    expect(plain(translated)).toEqual([{ kind: 'text', text: 'Hello', messageId: 'm1' }]);
    expect(translated[0]?.stamp).toMatchObject({ durable: false, sequence: null });
  });

  it('A7 a chunk of the user is nothing, and at the end one durable user.message that is not derived', () => {
    const script = new Script();
    expect(script.say(chunk('user_message_chunk', 'you ', { messageId: 'u1' }))).toEqual([]);
    expect(script.say(chunk('user_message_chunk', 'said'))).toEqual([]);
    const end = plain(script.end());
    const data = { turn: 2, content: [{ type: 'text', text: 'you said' }], source: { kind: 'harness', name: 'acp' } };
    expect(end).toEqual([{ type: 'user.message', data }]);
    expect(deriveMessages([{ sequence: 9, version: 1, type: 'user.message', data: data as never }])).toEqual([]);
  });

  it('A8 a thought is live, and at the end one durable reasoning message without text', () => {
    const script = new Script();
    expect(plain(script.say(chunk('agent_thought_chunk', 'hmm')))).toEqual([{ kind: 'reasoning', text: 'hmm' }]);
    const end = plain(script.end()) as [{ type: string; data: { content: { type: string }[] } }];
    expect(end).toMatchObject([
      {
        type: 'assistant.message',
        data: { step: 1, content: [{ type: 'reasoning', text: 'hmm' }], usage: null, cost: null, model: null },
      },
    ]);
    expect(end[0].data.content.filter(({ type }) => type === 'text')).toEqual([]);
  });

  it('A9 the answer to the prompt stands in the log verbatim, with its id and _meta', () => {
    const response = {
      jsonrpc: '2.0',
      id: 3,
      result: { stopReason: 'end_turn', _meta: { costUsd: 0.25 } },
    };
    const script = new Script();
    script.say(chunk('agent_message_chunk', 'done'));
    expect(plain(script.answer(response))).toMatchObject([
      { type: 'assistant.message', data: { content: [{ type: 'text', text: 'done' }], finishReason: 'stop' } },
      { type: 'harness.raw', data: { source: 'session/prompt', value: response } },
    ]);
  });

  it('A10 a tool_call is a tool.call with title, id and input, then the frame', () => {
    const fields = { toolCallId: 'c1', title: 'Read a file', kind: 'read', status: 'pending', rawInput: { path: 'a' } };
    expect(plain(new Script().say(update('tool_call', fields)))).toEqual([
      {
        type: 'tool.call',
        data: {
          turn: 2,
          step: 1,
          n: 0,
          callId: 'c1',
          name: 'Read a file',
          arguments: '{"path":"a"}',
          effective: { path: 'a' },
          decision: 'allow',
        },
      },
      { type: 'harness.raw', data: { source: 'session/update/tool_call', value: fields } },
    ]);
  });

  it('A10 a tool_call that is over already has its result between the two', () => {
    const fields = { toolCallId: 'c1', title: 'Read', status: 'completed', rawOutput: 'text' };
    const translated = new Script().say(update('tool_call', fields));
    expect(sources(translated)).toEqual(['tool.call', 'tool.result', 'session/update/tool_call']);
    expect(plain(translated)[0]).toMatchObject({ data: { effective: null, arguments: 'null' } });
  });

  it('A11 completed: the result without an error, then the frame; without rawOutput the content array', () => {
    const script = new Script();
    script.say(update('tool_call', { toolCallId: 'c1', title: 'Read' }), 1_000);
    script.say(update('tool_call', { toolCallId: 'c2', title: 'Read' }), 1_000);
    const content = [{ type: 'content', content: { type: 'text', text: 'lines' } }];
    const first = script.say(update('tool_call_update', { toolCallId: 'c2', status: 'completed', content }), 1_250);
    expect(plain(first)).toMatchObject([
      {
        type: 'tool.result',
        data: { n: 1, callId: 'c2', output: content, content: [{ type: 'text', text: 'lines' }], isError: false },
      },
      { type: 'harness.raw', data: { source: 'session/update/tool_call_update' } },
    ]);
    expect(plain(first)[0]).toMatchObject({ data: { durationMs: 250 } });
    const output = { lines: 3 };
    const fields = { toolCallId: 'c1', status: 'completed', content, rawOutput: output };
    expect(plain(script.say(update('tool_call_update', fields)))[0]).toMatchObject({
      data: { n: 0, output, content: [{ type: 'text', text: '{"lines":3}' }] },
    });
  });

  it('A11 what an earlier update told of the output counts; a second end of the same call is only kept', () => {
    const script = new Script();
    script.say(update('tool_call', { toolCallId: 'c1', title: 'Run' }));
    script.say(update('tool_call_update', { toolCallId: 'c1', rawOutput: 'so far' }));
    const end = update('tool_call_update', { toolCallId: 'c1', status: 'completed' });
    expect(plain(script.say(end))[0]).toMatchObject({ type: 'tool.result', data: { output: 'so far' } });
    expect(sources(script.say(end))).toEqual(['session/update/tool_call_update']);
  });

  it('A12 failed without output: the result first, as an error, with output null', () => {
    const script = new Script();
    script.say(update('tool_call', { toolCallId: 'c1', title: 'Run' }));
    const translated = script.say(update('tool_call_update', { toolCallId: 'c1', status: 'failed' }));
    expect(sources(translated)).toEqual(['tool.result', 'session/update/tool_call_update']);
    expect(plain(translated)[0]).toMatchObject({ data: { isError: true, output: null, content: [] } });
  });

  it('A13 in_progress is the frame alone', () => {
    const script = new Script();
    script.say(update('tool_call', { toolCallId: 'c1', title: 'Run' }));
    const fields = { toolCallId: 'c1', status: 'in_progress' };
    expect(plain(script.say(update('tool_call_update', fields)))).toEqual([
      { type: 'harness.raw', data: { source: 'session/update/tool_call_update', value: fields } },
    ]);
  });

  it.each([
    ['plan', { entries: [{ content: 'a', priority: 'high', status: 'pending' }] }],
    ['usage_update', { used: 5, size: 100, cost: { amount: 0.5, currency: 'USD' } }],
    ['session_info_update', { title: 'A title', _meta: { x: 1 } }],
    ['current_mode_update', { currentModeId: 'plan' }],
    ['config_option_update', { configOptions: [{ id: 'model' }] }],
    ['available_commands_update', { availableCommands: [{ name: 'a', description: 'b' }] }],
  ])('A14 %s is exactly one frame of its own source, without its tag', (tag, fields) => {
    expect(plain(new Script().say(update(tag, fields)))).toEqual([
      { type: 'harness.raw', data: { source: `session/update/${tag}`, value: fields } },
    ]);
  });

  it('A15 a plan is one event with all its entries', () => {
    const entries = Array.from({ length: 40 }, (_, n) => ({
      content: `step ${n}`,
      priority: 'low',
      status: 'pending',
    }));
    const [event, ...more] = plain(new Script().say(update('plan', { entries })));
    expect(event).toMatchObject({ data: { value: { entries } } });
    expect(more).toEqual([]);
  });

  it('A19 every event says whose it is, in which attempt and at which place', () => {
    const script = new Script();
    for (let n = 0; n < 7; n++) script.say(update('current_mode_update', { currentModeId: `m${n}` }));
    const [event] = script.say(update('current_mode_update', { currentModeId: 'last' }));
    expect(event?.stamp).toEqual({
      tenant: 't',
      session: 's',
      turn: 2,
      step: 1,
      attempt: 3,
      sequence: 7,
      logSequence: null,
      durable: true,
      agentId: '00000000-0000-0000-0000-000000000000',
      agentRole: 'agent',
    });
    expect(script.all.map(({ stamp }) => stamp.sequence)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it.each(['agent_message_chunk', 'agent_thought_chunk', 'user_message_chunk'])(
    'A20 1,000 chunks of %s are one event; another id ends it, a missing one continues',
    (tag) => {
      const script = new Script();
      for (let n = 0; n < 1_000; n++) script.say(chunk(tag, `${n} `, n % 2 === 0 ? { messageId: 'a' } : {}));
      expect(script.all.filter((one) => 'event' in one)).toEqual([]);
      const other = script.say(chunk(tag, 'next', { messageId: 'b' })).filter((one) => 'event' in one);
      expect(other).toHaveLength(1);
      const text = Array.from({ length: 1_000 }, (_, n) => `${n} `).join('');
      expect(plain(other)[0]).toMatchObject({ data: { content: [{ text }] } });
      expect(plain(script.end())[0]).toMatchObject({ data: { content: [{ text: 'next' }] } });
    },
  );

  it('A20 the three streams do not end each other, and end in the order in which they began', () => {
    const script = new Script();
    script.say(chunk('agent_thought_chunk', 'think'));
    script.say(chunk('agent_message_chunk', 'say'));
    script.say(chunk('user_message_chunk', 'echo'));
    script.say(chunk('agent_thought_chunk', ' more'));
    expect(plain(script.end())).toMatchObject([
      { data: { content: [{ type: 'reasoning', text: 'think more' }] } },
      { data: { content: [{ type: 'text', text: 'say' }] } },
      { type: 'user.message' },
    ]);
  });

  it('A20 a message ends at 1 MiB', () => {
    const script = new Script();
    const half = 'é'.repeat(256 * 1024);
    expect(script.say(chunk('agent_message_chunk', half)).filter((one) => 'event' in one)).toEqual([]);
    expect(script.say(chunk('agent_message_chunk', half)).filter((one) => 'event' in one)).toEqual([]);
    const [ended] = plain(script.say(chunk('agent_message_chunk', 'x')).filter((one) => 'event' in one));
    expect(ended).toMatchObject({ data: { content: [{ type: 'text', text: half + half }] } });
  });

  it('A21 an image keeps its place between texts; other contents too; what a block cannot hold stays as meta', () => {
    const script = new Script();
    script.say(chunk('agent_message_chunk', 'before ', { _meta: { a: 1 } }));
    script.say(update('agent_message_chunk', { content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } }));
    script.say(chunk('agent_message_chunk', 'after'));
    const link = { type: 'resource_link', uri: 'file:a', name: 'a', title: 'A' };
    script.say(update('agent_message_chunk', { content: link }));
    const audio = { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' };
    script.say(update('agent_message_chunk', { content: audio }));
    expect(plain(script.end())[0]).toMatchObject({
      data: {
        content: [
          { type: 'text', text: 'before ' },
          { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
          { type: 'text', text: 'after' },
          { type: 'resource', uri: 'file:a' },
          { type: 'json', value: audio },
        ],
        meta: [{ _meta: { a: 1 } }, { content: { name: 'a', title: 'A' } }],
      },
    });
  });

  it('after the answer, frames are only kept, as late', () => {
    const script = new Script();
    script.answer({ jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } });
    const line = chunk('agent_message_chunk', 'too late');
    expect(plain(script.say(line))).toEqual([
      {
        type: 'harness.raw',
        data: { source: 'late/session/update/agent_message_chunk', value: JSON.parse(line) as Json },
      },
    ]);
    expect(script.end()).toEqual([]);
  });

  it('an update of another session is foreign, another notification goes by its method', () => {
    const foreign = update('plan', { entries: [] }, 'other');
    expect(plain(new Script().say(foreign))).toEqual([
      {
        type: 'harness.raw',
        data: {
          source: 'session/update/foreign',
          value: { sessionId: 'other', update: { sessionUpdate: 'plan', entries: [] } },
        },
      },
    ]);
    const other = JSON.stringify({ jsonrpc: '2.0', method: '_vendor/note', params: { sessionId: SESSION, x: 1 } });
    expect(plain(new Script().say(other))).toEqual([
      {
        type: 'harness.raw',
        data: { source: 'notification/_vendor/note', value: { sessionId: SESSION, x: 1 } },
      },
    ]);
  });
});
