import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CatalogueInput } from '@jetloop/llm-router';
import { startReplayServer, wireAnswer, type ReplayServer } from '@jetloop/testing';
import { DIALECTS } from '../e2e/support/provider-system.js';
import { TestSystem } from '../e2e/support/test-system.js';
import { saidIn } from './support/said-in.js';

// Single bytes of the largest recordings take a while on a busy machine.
jest.setTimeout(180_000);

const folder = process.env['JETLOOP_RECORDED'] ?? '';
interface Expected {
  /** As [name, arguments]. */
  readonly calls?: readonly [string, object][];
  readonly finish: string;
  readonly usage: readonly [number, number, number];
  /** What stands in the file and must stand in the state of the answer, byte by byte. */
  readonly state?: RegExp;
}

/** What each recording must give, by hand from the file: calls, the usage buckets, signatures. */
const RECORDINGS: Record<string, Expected> = {
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
  'anthropic-text.chunks.txt': { finish: 'stop', usage: [12, 0, 30] },
  'anthropic-text.json': { finish: 'stop', usage: [12, 0, 29] },
  'anthropic-claude-opus-5-reasoning-high.1.json': {
    finish: 'stop',
    usage: [51, 0, 1699],
    state: /"signature": "([^"]+)"/,
  },
  'anthropic-clear-thinking.1.chunks.txt': { finish: 'stop', usage: [69, 0, 53], state: /"signature":"([^"]+)"/ },
  'anthropic-json-other-tool.1.chunks.txt': weather([843, 0, 28], { location: 'San Francisco' }),
  'anthropic-refusal.chunks.txt': { finish: 'content-filter', usage: [18, 0, 5] },
  'anthropic-tool-no-args.chunks.txt': { finish: 'tool-calls', usage: [565, 0, 48], calls: [['updateIssueList', {}]] },
  'google-text.chunks.txt': { finish: 'stop', usage: [9, 0, 208], state: /"thoughtSignature":"([^"]+)"/ },
  'google-reasoning-gemini3.chunks.txt': { finish: 'stop', usage: [9, 0, 325], state: /"thoughtSignature":"([^"]+)"/ },
  'google-tool-call.chunks.txt': {
    ...weather([29, 0, 60], { location: 'San Francisco' }),
    state: /"thoughtSignature":"([^"]+)"/,
  },
};
const ERRORS: Record<string, object> = {
  'google-429-retry-info.json': { code: 'rate_limited', status: 429, retryAfterMs: 34_400 },
};

function weather(usage: [number, number, number], given: object): Expected {
  return { finish: 'tool-calls', usage, calls: [['weather', given]] };
}

function targetOf(file: string) {
  const [model = '', kind] = file.split(/\.(?=chunks\.txt$|json$)/);
  const [provider = ''] = model.split('-');
  const dialect = provider === 'anthropic' || provider === 'google' ? provider : 'chat';
  const stream = kind !== 'json';
  return { model, dialect, stream, target: stream ? dialect : `${dialect}-whole` } as const;
}

it('the folder of recordings is named by JETLOOP_RECORDED, and this suite knows every file of it', () => {
  expect(folder).not.toBe('');
  const files = readdirSync(folder).filter((file) => /\.(chunks\.txt|json)$/.test(file));
  expect([...Object.keys(RECORDINGS), ...Object.keys(ERRORS)].sort()).toEqual(files.sort());
});

describe.each([
  ['an event at once', undefined],
  ['single bytes', 1],
])('R24 recorded answers, %s', (_name, pieces) => {
  let server: ReplayServer;
  let system: TestSystem;
  beforeAll(async () => {
    server = await startReplayServer({ folder, strict: true, ...(pieces === undefined ? {} : { pieces }) });
    const targets: CatalogueInput['targets'] = {};
    for (const dialect of DIALECTS) {
      const target = { provider: 'replay', dialect, model: 'queued', baseUrl: `${server.url}/v1`, retryCount: 0 };
      targets[dialect] = target;
      targets[`${dialect}-whole`] = { ...target, stream: false };
    }
    system = await TestSystem.start({ targets });
  });
  afterAll(async () => {
    await system.stop();
    await server.stop();
  });

  it.each(Object.entries(RECORDINGS))('%s', async (file, { calls = [], finish, usage, state }) => {
    const raw = readFileSync(join(folder, file), 'utf8');
    const { model, dialect, stream, target } = targetOf(file);
    const said = saidIn(raw, dialect);
    const session = await system.create(target);
    server.enqueue(model);
    // Where a tool is called, its result is asked about.
    const done = wireAnswer(dialect, { text: 'Done.', finish: 'stop', usage: { input: 1, output: 1 } }, stream);
    if (calls.length > 0) server.respond(done);
    expect(await session.prompt('Go on')).toEqual({ kind: finish === 'content-filter' ? 'refused' : 'completed' });
    const [message] = await session.data('assistant.message');
    const { content = [] } = message ?? {};
    const textsOf = (type: 'text' | 'reasoning') =>
      content.map((block) => (block.type === type ? block.text : '')).join('');
    expect(message?.finishReason).toBe(finish);
    expect(textsOf('text')).toBe(said.text);
    expect(textsOf('reasoning')).toBe(said.reasoning);
    expect(said.text + said.reasoning + String(calls.length) + finish).not.toBe('0stop');
    const [input, cacheRead, output] = usage;
    expect(message?.usage).toEqual({ input, cacheRead, cacheWrite: 0, output });
    const called = content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
    expect(called.map(({ name, arguments: text }): unknown => [name, JSON.parse(text)])).toEqual(calls);
    // Google's recordings have no ids: there one is made.
    expect(called.every(({ id }) => id !== '' && (dialect === 'google' || raw.includes(id)))).toBe(true);
    if (state) expect(JSON.stringify(content)).toContain(state.exec(raw)?.[1] ?? '(no state in the file)');
  });

  it.each(Object.entries(ERRORS))('%s', async (file, expected) => {
    const { model, target } = targetOf(file);
    const session = await system.create(target);
    server.enqueue(model);
    expect(await session.prompt('Go on')).toMatchObject({ kind: 'error' });
    expect(await session.data('turn.error')).toMatchObject([{ attempts: [{ error: expected }] }]);
  });
});
