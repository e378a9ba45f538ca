import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventData, LiveDelta } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import fc from 'fast-check';
import {
  startFaultServer,
  wireAnswer,
  wireOf,
  type FaultServer,
  type PlannedResponse,
  type ReplayDialect,
  type ResponseStep,
} from '@jetloop/testing';
import { isWhole } from '../faults/support/whole.js';
import { OWN_FIXTURES } from './support/own-fixtures.js';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';
import { randomFault, type RandomFault } from './support/random-fault.js';

const usage = { input: 10, output: 5 };
const weather = { id: 'call_1', name: 'weather', arguments: '{"city":"Lisbon"}' };
const SKY = 'The sky is "blue" – día, 空 and 🌊.\nAlways.';

/** By hand from the files: text, calls, finish, and usage as [input, cacheRead, cacheWrite, output]. */
const FIXTURES: Record<string, { text?: string; calls?: string[]; usage: [number, number, number, number] }> = {
  'chat-text.chunks.txt': { text: SKY, usage: [10, 0, 0, 5] },
  'chat-text.json': { text: SKY, usage: [10, 0, 0, 5] },
  'chat-cached-usage.chunks.txt': { text: 'Yes.', usage: [44, 256, 0, 42] },
  'chat-tool-call.chunks.txt': { calls: ['{"city":"Lisbon"}'], usage: [50, 0, 0, 10] },
  'chat-tool-call.json': { calls: ['{"city":"Lisbon"}'], usage: [50, 0, 0, 10] },
  'chat-reasoning-tool-call.chunks.txt': { calls: ['{"city":"Oslo"}'], usage: [36, 64, 0, 90] },
  'anthropic-text.chunks.txt': { text: SKY, usage: [10, 7, 3, 5] },
  'anthropic-text.json': { text: SKY, usage: [10, 7, 3, 5] },
  'anthropic-thinking-tool-call.chunks.txt': { calls: ['{"city": "Lisbon"}'], usage: [40, 0, 0, 60] },
  'google-text.chunks.txt': { text: SKY, usage: [10, 7, 0, 45] },
  'google-tool-call.chunks.txt': { calls: ['{"city":"Lisbon"}'], usage: [29, 0, 0, 60] },
};

type Message = EventData<'assistant.message'>;
const textOf = ({ content }: Message) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');

describe('answers on the wire', () => {
  let world: ProviderSystem;
  let faults: FaultServer;
  const impatient = { firstTokenTimeout: 400, idleTimeout: 300 };
  beforeAll(async () => {
    faults = await startFaultServer();
    const faulty = { baseUrl: `${faults.url}/v1`, firstTokenTimeout: 150, idleTimeout: 100 };
    const more: Record<string, Partial<CatalogueInput['targets'][string]> & { dialect: ReplayDialect }> = {};
    for (const dialect of DIALECTS) {
      more[`${dialect}-quick`] = { dialect, ...impatient };
      more[`${dialect}-right`] = { dialect, model: `${dialect}-text` };
      more[`${dialect}-faulty`] = { dialect, ...faulty };
      more[`${dialect}-faulty-whole`] = { dialect, ...faulty, stream: false };
    }
    world = await ProviderSystem.start(more);
  });
  afterAll(async () => {
    await world.stop();
    await faults.stop();
  });

  /** The one assistant message of a turn in a session of its own. */
  const said = async (chain: string[], ...answers: PlannedResponse[]): Promise<Message> => {
    const { session } = await world.turn(await world.create(chain), answers);
    const messages = await session.data('assistant.message');
    expect(messages).toHaveLength(1);
    return messages[0]!;
  };

  it('R24 own recordings: text, calls, finish, usage', async () => {
    expect(readdirSync(OWN_FIXTURES).sort()).toEqual(Object.keys(FIXTURES).sort());
    for (const [file, { text, calls = [], usage: counted }] of Object.entries(FIXTURES)) {
      const [name = '', kind] = file.split(/\.(?=chunks\.txt$|json$)/);
      const dialect = name.split('-')[0] ?? '';
      const session = await world.create([kind === 'json' ? `${dialect}-whole` : dialect]);
      world.provider.enqueue(name, ...(calls.length > 0 ? [`${dialect}-text`] : []));
      expect(await session.prompt('What is it like?')).toEqual({ kind: 'completed' });
      const [message] = await session.data('assistant.message');
      expect(message).toMatchObject({ finishReason: calls.length > 0 ? 'tool-calls' : 'stop' });
      const called = message!.content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
      expect(called.map((block) => block.arguments)).toEqual(calls);
      expect(called.every(({ name: tool, id }) => tool === 'weather' && id !== '')).toBe(true);
      expect(textOf(message!)).toBe(text ?? '');
      const [input, cacheRead, cacheWrite, output] = counted;
      expect(message!.usage).toEqual({ input, cacheRead, cacheWrite, output });
    }
  });

  it.each(DIALECTS)(
    'R25 LF, CRLF, CR, mixed, single bytes, data: without space are one answer: %s',
    async (dialect) => {
      const { chunks = [] } = wireAnswer(dialect, { text: SKY, calls: [weather], finish: 'max-tokens', usage });
      const body = chunks.filter((chunk) => typeof chunk === 'string').join('');
      const styles = ['\n', '\r\n', '\r'];
      const mixed = chunks.map((chunk, n) =>
        typeof chunk === 'string' ? chunk.replaceAll('\n', styles[n % 3] ?? '') : '',
      );
      const framings = [
        body,
        body.replaceAll('\n', '\r\n'),
        body.replaceAll('\n', '\r'),
        mixed.join(''),
        body.replaceAll('data: ', 'data:'),
      ];
      const answers = [
        ...framings.map((text) => ({ chunks: [text] })),
        ...framings.map((text) => ({ chunks: [text], pieces: 1 })),
      ];
      const seen: Partial<Message>[] = [];
      for (const answer of answers) {
        const { content, finishReason, usage: counted } = await said([dialect], answer);
        seen.push({ content, finishReason, usage: counted });
      }
      expect(seen[0]).toMatchObject({
        finishReason: 'max-tokens',
        content: [{ text: SKY }, { type: 'tool-call', ...weather }],
      });
      for (const each of seen) expect(each).toEqual(seen[0]);
    },
  );

  it.each(DIALECTS)('R26 comments feed the idle timer, not the first-token timer: %s', async (dialect) => {
    const wire = wireOf(dialect);
    const pings = (n: number): ResponseStep[] =>
      Array.from({ length: n }, () => [': ping\n\n', { pauseMs: 100 }]).flat();
    const fed = { chunks: [wire.begin(), wire.text('Hi'), ...pings(6), wire.end('stop', usage)] };
    expect(textOf(await said([`${dialect}-quick`], fed))).toBe('Hi');
    const starved = { chunks: [wireOf(dialect).begin(), ...pings(20)] };
    const { session, end } = await world.turn(await world.create([`${dialect}-quick`]), [starved]);
    expect(end).toMatchObject({ kind: 'error', code: 'timeout' });
    expect(await session.data('assistant.message')).toEqual([]);
  });

  it('R26 content with usage in one chunk: each once', async () => {
    const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' };
    const candidate = { index: 0, content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' };
    const chunks = {
      chat: { choices: [choice], usage: { prompt_tokens: 10, completion_tokens: 5 } },
      google: { candidates: [candidate], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } },
    };
    for (const [dialect, both] of Object.entries(chunks)) {
      const message = await said([dialect], { chunks: [`data: ${JSON.stringify(both)}\n\n`] });
      expect(textOf(message)).toBe('Hi');
      expect(message.usage).toMatchObject(usage);
    }
  });

  it.each(DIALECTS)(
    'R27 no last blank line, no [DONE], an open socket behind the end: done in a second: %s',
    async (dialect) => {
      const { chunks = [] } = wireAnswer(dialect, { text: 'Hi', finish: 'stop', usage });
      const body = chunks.filter((chunk) => typeof chunk === 'string').join('');
      const endings: ResponseStep[][] = [
        [body.trimEnd()],
        [body.replace('data: [DONE]\n\n', '')],
        [body, 'hang'],
        [body.replace('data: [DONE]\n\n', ''), 'hang'],
      ];
      for (const ending of endings) {
        const closed = world.provider.closed;
        const [attempt] = (await said([dialect], { chunks: ending })).attempts;
        expect(attempt).toMatchObject({ outcome: 'ok' });
        expect(attempt!.durationMs).toBeLessThan(1_000);
        if (ending.at(-1) === 'hang') await until(() => world.provider.closed === closed + 1);
      }
    },
  );

  it.each(DIALECTS)('R28 the end of the body in the middle of the answer is incomplete_stream: %s', async (dialect) => {
    const wire = wireOf(dialect);
    for (const last of [[], ['cut']]) {
      const cut = { chunks: [wire.begin(), wire.text('Half an ans'), ...last] };
      const { session, end } = await world.turn(await world.create([dialect]), [cut]);
      expect(end).toMatchObject({ kind: 'error', code: 'incomplete_stream' });
      expect(await session.data('assistant.message')).toEqual([]);
    }
    // A whole body that stops is none.
    const whole = wire.whole({ text: 'Hi', finish: 'stop', usage });
    const half = { headers: { 'content-length': '9999' }, chunks: [whole.slice(0, 40), 'cut'] };
    const { end } = await world.turn(await world.create([`${dialect}-whole`]), [half]);
    expect(end).toMatchObject({ kind: 'error', code: 'incomplete_stream' });
  });

  it.each(DIALECTS)(
    'R29 whatever fails before or after the first word falls back, and only the second text stands: %s',
    async (dialect) => {
      const wire = wireOf(dialect);
      const first = [wire.begin(), wire.text('WRONG')];
      const failures: [ResponseStep[], string, boolean][] = [
        [[wire.overloaded()], 'overloaded', false],
        [[wire.begin(), wire.overloaded()], 'overloaded', false],
        [[...first, wire.overloaded()], 'overloaded', true],
        [[wire.begin(), 'cut'], 'incomplete_stream', false],
        [[...first, 'cut'], 'incomplete_stream', true],
        [[wire.begin(), 'hang'], 'timeout', false],
        [[...first, 'hang'], 'timeout', true],
        [[wire.begin(), 'data: {"half\n\n'], 'protocol', false],
        [[...first, 'data: {"half\n\n'], 'protocol', true],
      ];
      for (const [chunks, code, isCommitted] of failures) {
        const session = await world.create([`${dialect}-quick`, `${dialect}-b`]);
        const deltas = world.watch(session);
        const right = wireAnswer(dialect, { text: 'Right.', finish: 'stop', usage });
        const { end } = await world.turn(session, [{ chunks }, right]);
        expect(end).toEqual({ kind: 'completed' });
        const [message] = await session.data('assistant.message');
        expect(textOf(message!)).toBe('Right.');
        expect(message!.attempts).toMatchObject([
          { target: `${dialect}-quick`, outcome: 'error', error: { code } },
          { target: `${dialect}-b`, outcome: 'ok', why: 'fallback' },
        ]);
        await until(() => deltas.some(({ kind }) => kind === 'end'));
        const of = (n: number) => deltas.filter(({ attemptId }) => attemptId === message!.attempts[n]?.attemptId);
        expect(of(0).map(({ kind }) => kind)).toEqual(isCommitted ? ['text', 'reset'] : []);
        expect(spoken(of(1))).toBe('Right.');
      }
    },
  );

  it.each(DIALECTS)('R29 when all fail, one error and all attempts: %s', async (dialect) => {
    const wire = wireOf(dialect);
    const session = await world.create([dialect, `${dialect}-b`]);
    const failed = { chunks: [wire.begin(), wire.overloaded()] };
    const { end } = await world.turn(session, [failed, { chunks: [wireOf(dialect).overloaded()] }]);
    expect(end).toMatchObject({ kind: 'error', code: 'overloaded' });
    const rows = await world.system.sql(
      `select target, outcome, error_code from model_attempts where session_id = '${session.id}' order by attempt_id`,
    );
    expect(rows).toEqual([
      [dialect, 'error', 'overloaded'],
      [`${dialect}-b`, 'error', 'overloaded'],
    ]);
  });

  it.each(DIALECTS)('R30 random faults: one terminal, the last: %s', async (dialect) => {
    const run = async ({ stream, hasFallback, steps }: RandomFault) => {
      const faulty = stream ? `${dialect}-faulty` : `${dialect}-faulty-whole`;
      const session = await world.create(hasFallback ? [faulty, `${dialect}-right`] : [faulty]);
      const deltas = world.watch(session);
      faults.plan(steps);
      const end = await session.prompt('Go on');
      const types = await session.types();
      expect([types.filter((type) => type === 'turn.end').length, types.at(-1)]).toEqual([1, 'turn.end']);
      // What the faulty target said is whole, or void: then the other one answers, or there is no answer.
      expect(end.kind).toMatch(hasFallback ? /^(max-tokens|completed)$/ : /^(max-tokens|error)$/);
      const messages = await session.data('assistant.message');
      const [failure] = await session.data('turn.error');
      const attempts = messages[0]?.attempts ?? failure?.attempts ?? [];
      expect([messages.length, failure === undefined]).toEqual(end.kind === 'error' ? [0, false] : [1, true]);
      const outcomes = { 'max-tokens': ['ok'], completed: ['error', 'ok'], error: ['error'] };
      expect(attempts.map(({ outcome }) => outcome)).toEqual(outcomes[end.kind as keyof typeof outcomes]);
      for (const { attemptId, outcome, firstTokenMs } of attempts) {
        const of = () => deltas.filter((delta) => delta.attemptId === attemptId);
        // An attempt that said nothing has nothing to take back.
        if (outcome === 'error' && firstTokenMs === undefined) continue;
        await until(() => of().some(isTerminal));
        expect(
          of()
            .filter(isTerminal)
            .map(({ kind }) => kind),
        ).toEqual([outcome === 'ok' ? 'end' : 'reset']);
        expect(isTerminal(of().at(-1)!)).toBe(true);
        expect(of().map(({ n }) => n)).toEqual(of().map((_delta, n) => n));
        if (outcome === 'ok') expect(spoken(of().filter(({ kind }) => kind === 'text'))).toBe(textOf(messages[0]!));
      }
      expect(new Set(deltas.map(({ attemptId }) => attemptId)).size).toBeLessThanOrEqual(attempts.length);
    };
    await fc.assert(fc.asyncProperty(randomFault(dialect), run), { numRuns: isWhole ? 100 : 12, endOnFailure: true });
  });
});

function isTerminal({ kind }: LiveDelta): boolean {
  return kind === 'end' || kind === 'reset';
}

function spoken(deltas: readonly LiveDelta[]): string {
  return deltas.map(({ text = '' }) => text).join('');
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('expected it to come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
