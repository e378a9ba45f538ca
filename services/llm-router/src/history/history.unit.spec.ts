import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ContentBlock, DerivedMessage } from '@jetloop/contracts';
import { startReplayServer, type ReplayServer } from '@jetloop/testing';
import {
  attempt,
  errorOf,
  OWN_FIXTURES,
  requestTo,
  textOf as answerOf,
} from '../adapter/adapter-driver.fixture.spec.js';
import { imageType } from './image-type.js';
import { prepareHistory } from './prepare-history.js';
import { ToolNames } from './tool-names.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1').toString('base64');
const JPEG = Buffer.from('\xff\xd8\xff\xe0', 'latin1').toString('base64');
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
const BMP = Buffer.from('BM0000').toString('base64');

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const call = (id: string, raw = '{}', name = 'f'): ContentBlock => ({ type: 'tool-call', id, name, arguments: raw });
const user = (...content: ContentBlock[]): DerivedMessage => ({ role: 'user', content });
const assistant = (...content: ContentBlock[]): DerivedMessage => ({ role: 'assistant', content });
const result = (callId: string, ...content: ContentBlock[]): DerivedMessage => ({ role: 'tool', callId, content });

let server: ReplayServer;
beforeAll(async () => {
  server = await startReplayServer({ folder: OWN_FIXTURES, strict: true });
});
afterAll(() => server.stop());

/** The messages that a strict provider was sent and took. */
async function sent(messages: DerivedMessage[], target: Record<string, unknown> = {}): Promise<unknown> {
  const answered = await attempt(requestTo(server, { messages, systemPrompt: ' ', target }));
  expect(answerOf(answered)).toContain('sky');
  const body = server.requests.at(-1)?.body;
  return typeof body === 'object' && body !== null && 'messages' in body ? body.messages : undefined;
}

describe('a history for a strict chat provider', () => {
  it('has no blank blocks, no empty messages and no empty results', async () => {
    const messages = [
      user(text('Hi'), text(' ')),
      assistant(text('')),
      user(text('\n')),
      assistant(text(''), call('a'), { type: 'reasoning', text: 'hm' }),
      result('a'),
      assistant({ type: 'reasoning', text: 'foreign' }),
      user(text('Go on')),
    ];
    expect(await sent(messages)).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'user', content: 'Go on' },
    ]);
  });

  it('has each call with exactly one result, in call order', async () => {
    const messages = [
      result('lost', text('orphan')),
      user(text('Hi')),
      assistant(call('a'), call('b'), call('c')),
      result('b', text('of b')),
      result('a', text('of a')),
      result('a', text('again')),
      user(text('Next')),
      result('c', text('too late')),
    ];
    expect(await sent(messages)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { tool_call_id: 'a', content: 'of a' },
      { tool_call_id: 'b', content: 'of b' },
      { tool_call_id: 'c', content: 'This call was interrupted: its result is not known.' },
      { role: 'user', content: 'Next' },
    ]);
  });

  it('tells equal ids of one message apart', async () => {
    const messages = [
      user(text('Hi')),
      assistant(call('a'), call('a')),
      result('a', text('1')),
      result('a', text('2')),
    ];
    expect(await sent(messages)).toMatchObject([
      {},
      { tool_calls: [{ id: 'a' }, { id: 'a_2' }] },
      { tool_call_id: 'a', content: '1' },
      { tool_call_id: 'a_2', content: '2' },
    ]);
  });

  it('has valid arguments, and raw ones unchanged', async () => {
    const raw = ['{"x": 1 }', '{"x":', '', '[1]', '{}{"x":1}'];
    const calls = raw.map((value, n) => call(`c${n}`, value));
    const messages = await sent([user(text('Hi')), assistant(...calls)]);
    const given = [...JSON.stringify(messages).matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map(
      ([, value = '""']): unknown => JSON.parse(value),
    );
    expect(given).toEqual(['{"x": 1 }', '{}', '{}', '{}', '{}']);
  });

  it('shows images to a target with vision alone, typed by their bytes', async () => {
    const image = (base64: string): ContentBlock => ({ type: 'image', mediaType: 'image/png', base64 });
    const url: ContentBlock = { type: 'image', mediaType: 'image/png', url: 'https://example.com/a.png' };
    const messages = [user(text('See'), image(JPEG), image(SVG), url), assistant(call('a')), result('a', image(PNG))];
    const seen = JSON.stringify(await sent(messages, { capabilities: { vision: true } }));
    expect(seen).toContain(`data:image/jpeg;base64,${JPEG}`);
    expect(seen).toContain('[an image (image/svg+xml) that this model cannot see]');
    expect(seen).not.toContain('example.com');
    expect(seen).toContain('"content":"[an image (image/png) that this model cannot see]"');
    const byUrl = JSON.stringify(await sent(messages, { capabilities: { vision: true, imageUrls: true } }));
    expect(byUrl).toContain('https://example.com/a.png');
    expect(JSON.stringify(await sent(messages))).not.toContain('image_url');
  });

  it('sends cache hints to a target that caches', async () => {
    const messages = [user({ type: 'text', text: 'Long', cache: { type: 'ephemeral' } })];
    expect(await sent(messages, { capabilities: { promptCaching: true } })).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }] },
    ]);
    expect(await sent(messages)).toEqual([{ role: 'user', content: 'Long' }]);
  });

  it('writes json, resources and blobs as text', async () => {
    const blob = { digest: 'd', size: 9, mediaType: 'text/plain' };
    const messages = [
      user(
        { type: 'json', value: { a: 1 } },
        { type: 'resource', uri: 'file:///a', text: 'inside' },
        { type: 'blob', of: 'text', blob },
      ),
    ];
    const [first] = [await sent(messages)].flat();
    expect(JSON.stringify(first)).toMatch(/\{\\"a\\":1\}.*file:\/\/\/a.*inside.*9 bytes/);
  });

  it('changes nothing when it is applied again, and never the log', () => {
    const { target } = requestTo(server);
    const rules = { keepsState: () => false, imagesInResults: false };
    const messages = [user(text('Hi'), text('')), assistant(call('a', '{'), call('a')), result('a'), user(text('x'))];
    const before = structuredClone(messages);
    const once = prepareHistory(messages, target, rules);
    const again = prepareHistory(
      once.map((message) => ({ ...message, content: [...message.content] })),
      target,
      rules,
    );
    expect(again).toEqual(once);
    expect(messages).toEqual(before);
  });
});

describe('the strict server of these tests', () => {
  it.each([
    ['an orphan', [{ role: 'tool', tool_call_id: 'x', content: 'y' }]],
    ['a blank text', [{ role: 'user', content: [{ type: 'text', text: '' }] }]],
    [
      'a call without result',
      [
        { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
        { role: 'user', content: 'x' },
      ],
    ],
  ])('refuses %s', async (_name, messages) => {
    const body = JSON.stringify({ model: 'chat-text', messages });
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body });
    expect(answer.status).toBe(400);
    await answer.text();
  });

  it('names a fixture that is not there', async () => {
    const error = errorOf(await attempt(requestTo(server, { target: { model: 'no-such' } })));
    expect(error).toMatchObject({ code: 'model_not_found', status: 404 });
  });
});

describe('names of tools', () => {
  it('are short, plain, apart from each other and the same everywhere', () => {
    const names = ['a.b', 'a_b', 'a b', 'x'.repeat(90), `${'x'.repeat(90)}y`, 'ok-1'];
    const tools = new ToolNames(names);
    const wire = names.map((name) => tools.toWire(name));
    expect(new Set(wire).size).toBe(names.length);
    for (const name of wire) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(wire.map((name) => tools.fromWire(name))).toEqual(names);
    expect(new ToolNames([]).toWire('a.b')).toBe(wire[0]);
    expect(tools.fromWire('made_up')).toBe('made_up');
  });
});

describe('the type of an image', () => {
  it.each([
    [PNG, 'image/png'],
    [JPEG, 'image/jpeg'],
    [SVG, 'image/svg+xml'],
    [BMP, 'image/bmp'],
    [Buffer.from('RIFF0000WEBPVP8 ').toString('base64'), 'image/webp'],
    [Buffer.from('0000ftypheic').toString('base64'), 'image/heic'],
    ['', 'image/x-label'],
    [Buffer.from('what is this').toString('base64'), 'image/x-label'],
  ])('of %s is %s', (base64, type) => {
    expect(imageType(base64, 'image/x-label')).toBe(type);
  });
});
