import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplayServer } from '@jetloop/testing';
import { attempt, callEvent, errorOf, event, providerServer, requestTo } from '../adapter-driver.fixture.spec.js';

let server: ReplayServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.stop());

const END = event({ delta: {}, finish_reason: 'tool_calls' });

async function callsOf(...chunks: string[]) {
  server.respond({ chunks: [...chunks, END, 'data: [DONE]\n\n'] });
  const answered = await attempt(requestTo(server));
  expect(answered.assembled.end).toEqual({ finish: 'tool-calls' });
  return answered.assembled.content.flatMap((block) =>
    block.type === 'tool-call' ? [[block.id, block.name, block.arguments]] : [],
  );
}

async function failureOf(...chunks: string[]) {
  server.respond({ chunks: [...chunks, END, 'data: [DONE]\n\n'] });
  return errorOf(await attempt(requestTo(server))).code;
}

const a = (text: string, more = {}) => ({ index: 0, id: 'a', function: { name: 'f', arguments: text }, ...more });

describe('calls of a chat answer', () => {
  it('interleaved, by index', async () => {
    const calls = await callsOf(
      callEvent(a('{"x"'), { index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } }),
      callEvent({ index: 1, function: { arguments: ':2}' } }, { index: 0, function: { arguments: ':1}' } }),
    );
    expect(calls).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{"y":2}'],
    ]);
  });

  it('a new id opens a call at a used index; what follows without id is its own', async () => {
    const calls = await callsOf(
      callEvent(a('{"x":1}')),
      callEvent({ index: 0, id: 'b', function: { name: 'g', arguments: '' } }),
      callEvent({ index: 0, function: { arguments: '{"y":2}' } }),
    );
    expect(calls).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{"y":2}'],
    ]);
  });

  it('without index a fragment continues the last opened; an empty id is none', async () => {
    const calls = await callsOf(
      callEvent({ id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      callEvent({ id: '', function: { arguments: ':1' } }),
      callEvent({ function: { arguments: '}' } }),
    );
    expect(calls).toEqual([['a', 'f', '{"x":1}']]);
  });

  it('an id that is repeated continues its call', async () => {
    expect(await callsOf(callEvent(a('{"x"')), callEvent(a(':1}')))).toEqual([['a', 'f', '{"x":1}']]);
  });

  it('blank arguments are {} at the end, an object is written as text', async () => {
    const object = { index: 1, id: 'b', function: { name: 'g', arguments: { y: [2] } } };
    expect(await callsOf(callEvent(a(' ')), callEvent(a('')), callEvent(object))).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '{"y":[2]}'],
    ]);
  });

  it('calls without ids get one each', async () => {
    const calls = await callsOf(
      callEvent({ index: 0, function: { name: 'f', arguments: '{}' } }),
      callEvent({ index: 1, function: { name: 'f', arguments: '{}' } }),
    );
    expect(calls).toHaveLength(2);
    expect(calls[0]?.[0]).toMatch(/^call_/);
    expect(calls[0]?.[0]).not.toBe(calls[1]?.[0]);
  });

  it('the old function_call is a call', async () => {
    server.respond({
      chunks: [
        event({ delta: { function_call: { name: 'f', arguments: '{"x"' } } }),
        event({ delta: { function_call: { arguments: ':1}' } } }),
        event({ delta: {}, finish_reason: 'function_call' }),
      ],
    });
    const { assembled } = await attempt(requestTo(server));
    expect(assembled).toMatchObject({ content: [{ name: 'f', arguments: '{"x":1}' }], end: { finish: 'tool-calls' } });
  });

  it.each([
    ['a second object for one call', [callEvent(a('{}')), callEvent({ index: 0, function: { arguments: '{"x":1}' } })]],
    ['a fragment before its call', [callEvent({ index: 3, function: { arguments: '{}' } })]],
    ['one id at two indexes', [callEvent(a('{}')), callEvent(a('{}', { index: 1 }))]],
    ['two names for one call', [callEvent(a('{')), callEvent({ index: 0, function: { name: 'g', arguments: '}' } })]],
    ['a call without a name', [callEvent({ index: 0, id: 'a', function: { arguments: '{}' } })]],
    ['no call at all', [event({ delta: { content: 'I will call.' } })]],
  ])('%s fails', async (_name, chunks) => {
    expect(await failureOf(...chunks)).toBe('tool_call_assembly');
  });

  it('names that providers refuse go out hashed and come back as they were', async () => {
    server.enqueue('chat-text');
    const tool = { name: 'files.read', description: 'Reads.', inputSchema: { type: 'object' } };
    await attempt(requestTo(server, { tools: [tool] }));
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    const wire = /"name":"(files_read_[0-9a-f]{12})"/.exec(sent)?.[1] ?? '';
    expect(wire).not.toBe('');
    server.respond({ chunks: [callEvent(a('{}', { function: { name: wire, arguments: '{}' } })), END] });
    const { assembled } = await attempt(requestTo(server, { tools: [tool] }));
    expect(assembled.content).toMatchObject([{ type: 'tool-call', name: 'files.read' }]);
  });
});

describe('finish of a chat answer', () => {
  const text = event({ delta: { content: 'Hi' } });
  const call = callEvent(a('{"x":1}'));
  it.each([
    ['stop', [text], 'stop'],
    ['stop', [text, call], 'tool-calls'],
    ['length', [text, call], 'max-tokens'],
    ['length', [], 'max-tokens'],
    ['content_filter', [], 'content-filter'],
    ['content_filter', [call], 'content-filter'],
    ['stop', [event({ delta: { refusal: 'I will not.' } })], 'content-filter'],
    ['brand_new', [text], 'stop'],
    ['brand_new', [call], 'tool-calls'],
  ])('%s with %j is its own', async (raw, chunks, finish) => {
    server.respond({ chunks: [...chunks, event({ delta: {}, finish_reason: raw })] });
    const { parts } = await attempt(requestTo(server));
    expect(parts.at(-1)).toEqual({ kind: 'finish', reason: finish, raw });
  });

  it('nothing at all is a failure, but behind a tool round the end of the turn', async () => {
    const empty = { chunks: [event({ delta: { content: '' }, finish_reason: 'stop' })] };
    server.respond(empty, empty);
    expect(errorOf(await attempt(requestTo(server))).code).toBe('empty_response');
    const messages = [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go.' }] },
      { role: 'assistant' as const, content: [{ type: 'tool-call' as const, id: 'a', name: 'f', arguments: '{}' }] },
      { role: 'tool' as const, callId: 'a', content: [{ type: 'text' as const, text: 'done' }] },
    ];
    expect((await attempt(requestTo(server, { messages }))).assembled.end).toEqual({ finish: 'stop' });
  });
});
