import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startReplayServer, type ReplayServer } from '@jetloop/testing';
import { attempt, requestTo, textOf } from './chat-driver.fixture.spec.js';

// Single bytes of the largest recordings take a while on a busy machine.
jest.setTimeout(180_000);

const folder = process.env['JETLOOP_RECORDED'] ?? '';
/** What each recording must give, by hand from the file: calls as [name, arguments], and the usage buckets. */
const RECORDINGS: Record<string, { calls?: [string, object][]; finish: string; usage: [number, number, number] }> = {
  'openai-text.chunks.txt': { finish: 'stop', usage: [16, 0, 300] },
  'openai-text.json': { finish: 'stop', usage: [16, 0, 363] },
  'xai-text.chunks.txt': { finish: 'stop', usage: [1, 11, 342] },
  'xai-tool-call.chunks.txt': weather([1, 306, 253], { location: 'San Francisco' }),
  'xai-tool-call.json': weather([63, 244, 281], { location: 'San Francisco' }),
  'groq-tool-call.chunks.txt': weather([210, 0, 15], {}),
  'groq-tool-call.json': weather([218, 0, 15], {}),
  'deepseek-tool-call.chunks.txt': weather([19, 320, 83], { location: 'San Francisco' }),
  'deepseek-tool-call.json': weather([19, 320, 92], { location: 'San Francisco' }),
  'alibaba-reasoning.chunks.txt': { finish: 'stop', usage: [24, 0, 1355] },
  'alibaba-tool-call.chunks.txt': weather([295, 0, 22], { location: 'San Francisco' }),
  'mistral-text.chunks.txt': { finish: 'stop', usage: [13, 0, 8] },
  'mistral-tool-call.json': weather([124, 0, 22], { location: 'San Francisco' }),
};

function weather(usage: [number, number, number], given: object) {
  return { finish: 'tool-calls', usage, calls: [['weather', given]] satisfies [string, object][] };
}

it('the folder of recordings is named by JETLOOP_RECORDED and has all that this suite knows', () => {
  expect(folder).not.toBe('');
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(Object.keys(RECORDINGS)));
});

describe.each([
  ['an event at once', undefined],
  ['single bytes', 1],
])('recorded chat answers, %s', (_name, pieces) => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await startReplayServer({ folder, strict: true, ...(pieces === undefined ? {} : { pieces }) });
  });
  afterAll(() => server.stop());

  it.each(Object.entries(RECORDINGS))('%s', async (file, { calls = [], finish, usage }) => {
    const said = expectedText(file);
    const [model = '', kind] = file.split(/\.(?=chunks\.txt$|json$)/);
    const answered = await attempt(requestTo(server, { target: { model, stream: kind !== 'json' } }));
    const { content } = answered.assembled;
    expect(answered.assembled.end).toEqual({ finish });
    expect(textOf(answered)).toBe(said.text);
    expect(content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('')).toBe(said.reasoning);
    expect(said.text + said.reasoning + String(calls.length)).not.toBe('0');
    const [input, cacheRead, output] = usage;
    expect(answered.assembled.usage).toEqual({ input, cacheRead, cacheWrite: 0, output });
    const called = content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
    expect(called.map(({ name, arguments: raw }): unknown => [name, JSON.parse(raw)])).toEqual(calls);
    expect(called.every(({ id }) => id !== '' && readFileSync(join(folder, file), 'utf8').includes(id))).toBe(true);
  });
});

/** What the deltas of a file come to, read with regular expressions alone: independent of the adapter. */
function expectedText(file: string): { text: string; reasoning: string } {
  const raw = readFileSync(join(folder, file), 'utf8');
  const all = (key: string) =>
    [...raw.matchAll(new RegExp(`"${key}":\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g'))]
      .map(([, literal = '""']) => String(JSON.parse(literal)))
      .join('');
  return { text: all('content'), reasoning: all('reasoning_content') };
}
