import { describe, expect, it } from '@jest/globals';
import type { Json } from '@jetloop/contracts';
import fc from 'fast-check';
import { chunk, plain, Script, SESSION, update } from './translated.fixture.spec.js';

const raw = (source: string, value: Json) => [{ type: 'harness.raw', data: { source, value } }];
const tags = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'user_message_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'usage_update',
  'session_info_update',
  'current_mode_update',
  'config_option_update',
  'available_commands_update',
  'plan_update',
  'made_up',
];

describe('what an agent writes beside the protocol', () => {
  it('A22 a broken line, an array and a JSON that is no JSON-RPC are kept as text', () => {
    for (const text of [
      '{"jsonrpc":"2.0","meth',
      'Listening on port 3',
      '[]',
      '[{"jsonrpc":"2.0"}]',
      '17',
      '{"a":1}',
      '{"id":{},"method":"x"}',
    ])
      expect(plain(new Script().say(text))).toEqual(raw('undecodable', { text }));
  });

  it('A22 bytes that are no UTF-8 are kept as base64', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    expect(plain(new Script().say(bytes))).toEqual(raw('undecodable', { base64: bytes.toString('base64') }));
  });

  it('A22 an unknown tag and a missing field are undecodable: the whole frame is kept', () => {
    for (const line of [
      update('made_up', { a: 1 }),
      update('tool_call', { toolCallId: 'c' }),
      update('tool_call_update', { status: 'completed' }),
      update('tool_call_update', { toolCallId: 'c', status: 'exploded' }),
      update('plan', {}),
      update('agent_message_chunk', {}),
      update('agent_message_chunk', { content: { type: 'text' } }),
      update('agent_message_chunk', { content: { type: 'made_up', x: 1 } }),
      JSON.stringify({ jsonrpc: '2.0', method: 'session/update' }),
      JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: SESSION } }),
    ])
      expect(plain(new Script().say(line))).toEqual(raw('session/update/undecodable', JSON.parse(line) as Json));
  });

  it.each(['notice', 'compaction_update', 'plan_update', 'plan_removed', 'session_message'])(
    'A22 %s is a tag of the schema without a translation: unrecognised',
    (tag) => {
      const line = update(tag, { planId: 'p' });
      const { params } = JSON.parse(line) as { params: Json };
      expect(plain(new Script().say(line))).toEqual(raw('session/update/unrecognised', params));
    },
  );

  it.each(['1e999', '-1e999', '12345678901234567890', '0.12345678901234567890123', '1E400'])(
    'A22 %s cannot be written back by JSON: the line stands in its place',
    (number) => {
      const value = (line: string) => ({ encodeError: expect.any(String) as unknown, text: line });
      const usage = update('usage_update', { used: 1, size: 2 }).replace('"used":1', `"used":${number}`);
      expect(plain(new Script().say(usage))).toEqual([
        { type: 'harness.raw', data: { source: 'session/update/usage_update', value: value(usage) } },
      ]);
      const call = update('tool_call', { toolCallId: 'c', title: 't', rawInput: 0 }).replace(':0}', `:${number}}`);
      expect(plain(new Script().say(call))).toMatchObject([
        { type: 'tool.call', data: { effective: value(call) } },
        { data: { source: 'session/update/tool_call', value: value(call) } },
      ]);
      const script = new Script();
      const text = chunk('agent_message_chunk', 'hi', { _meta: 0 }).replace('"_meta":0', `"_meta":${number}`);
      script.say(text);
      expect(plain(script.end())).toMatchObject([{ data: { content: [{ text: 'hi' }], meta: [value(text)] } }]);
    },
  );

  it.each(['1.50', '1e3', '15e-1', '0', '-0.0', '123456789012345', '1.0000000000000000000'])(
    'a number that only looks doubtful is a number: %s',
    (number) => {
      const line = update('usage_update', { used: 1, size: 2 }).replace('"used":1', `"used":${number}`);
      expect(plain(new Script().say(line))).toEqual(
        raw('session/update/usage_update', { used: Number(number), size: 2 }),
      );
    },
  );

  it('A22 nothing of a generated frame is dropped, and the turn goes on', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json);
    const content = fc.oneof(
      fc.record(
        { type: fc.constant('text'), text: fc.string(), annotations: json },
        { requiredKeys: ['type', 'text'] },
      ),
      fc.record(
        { type: fc.constant('image'), data: fc.string(), mimeType: fc.string(), uri: fc.string() },
        { requiredKeys: ['type', 'data', 'mimeType'] },
      ),
      fc.record(
        { type: fc.constant('resource_link'), uri: fc.string(), name: fc.string(), size: json },
        { requiredKeys: ['type', 'uri', 'name'] },
      ),
      json,
    );
    const fields = fc.record(
      {
        content,
        messageId: fc.oneof(fc.constantFrom('m1', 'm2', null), json),
        _meta: json,
        toolCallId: fc.constantFrom('c1', 'c2'),
        title: fc.string(),
        status: fc.constantFrom('pending', 'completed', 'failed', 'odd'),
        rawInput: json,
        rawOutput: json,
        entries: fc.array(json),
        currentModeId: fc.string(),
        extra: json,
      },
      { requiredKeys: [] },
    );
    const frame = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(fc.constantFrom(...tags), fields, fc.option(json)).map(([tag, some, meta]) => {
          const params = {
            sessionId: SESSION,
            update: { sessionUpdate: tag, ...some },
            ...(meta === null ? {} : { _meta: meta }),
          };
          return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params });
        }),
      },
      { weight: 1, arbitrary: json.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.string().filter((text) => !text.includes('\n')) },
    );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (lines) => {
        const script = new Script();
        for (const line of lines) script.say(line);
        expect(plain(script.say(chunk('agent_message_chunk', 'next'))).at(-1)).toMatchObject({ text: 'next' });
        script.end();
        const said = Buffer.from(JSON.stringify(plain(script.all)));
        const text = said.toString('utf8');
        for (const leaf of lines.flatMap((line) => leavesOf(line))) {
          if (!text.includes(leaf)) throw new Error(`${leaf} is in no event of ${JSON.stringify(lines)}: ${text}`);
        }
        const durable = script.all.flatMap(({ stamp }) => (stamp.sequence === null ? [] : [stamp.sequence]));
        expect(durable).toEqual(durable.map((_, n) => n));
        expect(JSON.parse(text)).toEqual(plain(script.all));
      }),
      { numRuns: 500 },
    );
  });
});

/** What must be found again: every text and number of a frame, as JSON writes it; tags and null say nothing. */
function leavesOf(line: string): string[] {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    // No JSON: the line itself must be there.
    return [inside(line)];
  }
  const { params } = (value ?? {}) as { params?: { update?: Json; _meta?: Json } };
  if (params === undefined) return [inside(line)];
  return [...leaves(params.update ?? null), ...leaves(params._meta ?? null)];
}

function leaves(value: Json): string[] {
  if (typeof value === 'string') return tags.includes(value) ? [] : [inside(value)];
  if (typeof value === 'number') return [JSON.stringify(value)];
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    ['messageId', 'type', 'sessionUpdate', 'status'].includes(key) ? [] : leaves(item),
  );
}

/** A text as it stands between the quotes of JSON. */
function inside(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
