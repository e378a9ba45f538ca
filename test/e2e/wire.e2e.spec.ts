import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventData, LiveDelta } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import fc from 'fast-check';
import {
  isWhole,
  replayFixture,
  startFaultServer,
  wireAnswer,
  wireOf,
  type FaultServer,
  type PlannedResponse,
  type ReplayDialect,
  type ResponseStep,
} from '@jetloop/testing';
import { FakeModels, type Reaction } from './support/fake-models.js';
import { OWN_FIXTURES } from './support/own-fixtures.js';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';
import { randomFault, type RandomFault } from './support/random-fault.js';
import type { TestSession } from './support/test-session.js';

const usage = { input: 10, output: 5 };
const weather = { id: 'call_1', name: 'weather', arguments: '{"city":"Lisbon"}' };
const SKY = 'The sky is "blue" – día, 空 and 🌊.\nAlways.';

/** By hand from the files. */
interface Fixture {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly string[];
  /** Signatures and redacted blocks, in order. */
  readonly opaque?: readonly string[];
  /** input, cacheRead, cacheWrite, output */
  readonly usage: readonly [number, number, number, number];
}
const THOUGHT = 'The user asks for the weather.';
const FIXTURES: Readonly<Record<string, Fixture>> = {
  'chat-text.chunks.txt': { text: SKY, usage: [10, 0, 0, 5] },
  'chat-text.json': { text: SKY, usage: [10, 0, 0, 5] },
  'chat-cached-usage.chunks.txt': { text: 'Yes.', reasoning: 'Short.', usage: [44, 256, 0, 42] },
  'chat-tool-call.chunks.txt': { calls: ['{"city":"Lisbon"}'], usage: [50, 0, 0, 10] },
  'chat-tool-call.json': { calls: ['{"city":"Lisbon"}'], usage: [50, 0, 0, 10] },
  'chat-reasoning-tool-call.chunks.txt': { reasoning: THOUGHT, calls: ['{"city":"Oslo"}'], usage: [36, 64, 0, 90] },
  'anthropic-text.chunks.txt': { text: SKY, usage: [10, 7, 3, 5] },
  'anthropic-text.json': { text: SKY, usage: [10, 7, 3, 5] },
  'anthropic-thinking-tool-call.chunks.txt': {
    reasoning: THOUGHT,
    calls: ['{"city": "Lisbon"}'],
    opaque: ['b3duLXNpZ25hdHVyZS0x/+==', 'b3duLXJlZGFjdGVkLTE='],
    usage: [40, 0, 0, 60],
  },
  'google-text.chunks.txt': { text: SKY, opaque: ['b3duLXRob3VnaHQtMQ=='], usage: [10, 7, 0, 45] },
  'google-tool-call.chunks.txt': {
    reasoning: THOUGHT,
    calls: ['{"city":"Lisbon"}'],
    opaque: ['b3duLXRob3VnaHQtMg=='],
    usage: [29, 0, 0, 60],
  },
};
const FORMS = Object.keys(FIXTURES).flatMap((file) => [
  { file, sent: 'an event at once' },
  { file, sent: 'in single bytes', pieces: 1 },
]);

type Message = EventData<'assistant.message'>;
const saidAs =
  (type: 'text' | 'reasoning') =>
  ({ content }: Message) =>
    content.map((block) => (block.type === type ? block.text : '')).join('');
const textOf = saidAs('text');
const reasoningOf = saidAs('reasoning');
/** What a provider wants back byte by byte. */
const opaqueIn = ({ content }: Message) => JSON.stringify(content).match(/(?<=")b3du[^"]+(?=")/g) ?? [];

describe('answers on the wire', () => {
  let world: ProviderSystem;
  let faults: FaultServer;
  let timed: FakeModels;
  beforeAll(async () => {
    faults = await startFaultServer();
    timed = await FakeModels.start();
    // Far above what a machine that stalls takes: who waits for these waits for all of them at once.
    const impatient = { baseUrl: timed.url, firstTokenTimeout: 2_000, idleTimeout: 1_500 };
    const faulty = { baseUrl: `${faults.url}/v1`, firstTokenTimeout: 150, idleTimeout: 100 };
    const more: Record<string, Partial<CatalogueInput['targets'][string]> & { dialect: ReplayDialect }> = {};
    for (const dialect of DIALECTS) {
      for (const model of ['fed', 'starved', 'silent', 'stalled', 'second'].map((name) => `${dialect}-${name}`))
        more[model] = { dialect, model, ...impatient };
      const again = { dialect, retryCount: 1, jitterBackoff: 5 };
      more[`${dialect}-retried`] = again;
      more[`${dialect}-refused`] = { ...again, baseUrl: 'http://127.0.0.1:1/v1' };
      // It does not speak TLS.
      more[`${dialect}-tls`] = { ...again, baseUrl: timed.url.replace('http:', 'https:') };
      more[`${dialect}-right`] = { dialect, model: `${dialect}-text` };
      more[`${dialect}-faulty`] = { dialect, ...faulty };
      more[`${dialect}-faulty-whole`] = { dialect, ...faulty, stream: false };
    }
    world = await ProviderSystem.start(more);
  });
  afterAll(async () => {
    await world.stop();
    await faults.stop();
    await timed.stop();
  });

  /** The one assistant message of a turn in a session of its own. */
  const said = async (chain: string[], ...answers: PlannedResponse[]): Promise<Message> => {
    const { session } = await world.turn(await world.create(chain), answers);
    const messages = await session.data('assistant.message');
    expect(messages).toHaveLength(1);
    return messages[0]!;
  };

  /** The first target failed, and nothing of what it said stands beside the answer of the second one. */
  const expectOnlySecond = async (
    session: TestSession,
    deltas: readonly LiveDelta[],
    code: string,
    committed?: LiveDelta['kind'],
  ) => {
    const [message] = await session.data('assistant.message');
    expect(message?.content).toEqual([{ type: 'text', text: 'Right.' }]);
    expect(message!.attempts).toMatchObject([
      { outcome: 'error', error: { code } },
      { outcome: 'ok', why: 'fallback' },
    ]);
    await until(() => deltas.some(({ kind }) => kind === 'end'));
    const of = (n: number) => deltas.filter(({ attemptId }) => attemptId === message!.attempts[n]?.attemptId);
    // A call may come in several fragments.
    expect([...new Set(of(0).map(({ kind }) => kind))]).toEqual(committed ? [committed, 'reset'] : []);
    expect(spoken(of(1).filter(({ kind }) => kind !== 'end'))).toBe('Right.');
  };

  it('R24 every fixture of our own is listed', () => {
    expect(readdirSync(OWN_FIXTURES).sort()).toEqual(Object.keys(FIXTURES).sort());
  });

  it.each(FORMS)('R24 $file, $sent: text, reasoning, calls, finish, usage', async ({ file, pieces }) => {
    const { text = '', reasoning = '', calls = [], opaque = [], usage: counted } = FIXTURES[file]!;
    const [name = '', kind] = file.split(/\.(?=chunks\.txt$|json$)/);
    const dialect = DIALECTS.find((each) => file.startsWith(each))!;
    const recorded = await replayFixture(OWN_FIXTURES, name, { whole: kind === 'json', dialect });
    const session = await world.create([kind === 'json' ? `${dialect}-whole` : dialect]);
    world.provider.respond({ ...recorded, ...(pieces === undefined ? {} : { pieces }) });
    if (calls.length > 0) world.provider.enqueue(`${dialect}-text`);
    expect(await session.prompt('What is it like?')).toEqual({ kind: 'completed' });
    const [message] = await session.data('assistant.message');
    expect(message).toMatchObject({ finishReason: calls.length > 0 ? 'tool-calls' : 'stop' });
    const called = message!.content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
    expect(called.map((block) => block.arguments)).toEqual(calls);
    expect(called.every(({ name: tool, id }) => tool === 'weather' && id !== '')).toBe(true);
    expect([textOf(message!), reasoningOf(message!), opaqueIn(message!)]).toEqual([text, reasoning, opaque]);
    const [input, cacheRead, cacheWrite, output] = counted;
    expect(message!.usage).toEqual({ input, cacheRead, cacheWrite, output });
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

  it('R26 comments feed the idle timer, not the first-token timer', async () => {
    const pings = (n: number): ResponseStep[] =>
      Array.from({ length: n }, () => [': ping\n\n', { pauseMs: 250 }]).flat();
    const plans = DIALECTS.map((dialect) => {
      const wire = wireOf(dialect);
      const fed = [wire.begin(), wire.text('Hi'), ...pings(8), wire.end('stop', usage)];
      const starved = [wireOf(dialect).begin(), ...pings(40)];
      return { [`${dialect}-fed`]: [{ chunks: fed }], [`${dialect}-starved`]: [{ chunks: starved }] };
    });
    timed.plan(Object.assign({}, ...plans) as Record<string, readonly Reaction[]>);
    const hears = async (target: string) => {
      const session = await world.create([target]);
      const end = await session.prompt('Go on');
      return { end, said: (await session.data('assistant.message')).map(textOf) };
    };
    const heard = await Promise.all(
      DIALECTS.map(async (dialect) => Promise.all([hears(`${dialect}-fed`), hears(`${dialect}-starved`)])),
    );
    const timeout: unknown = expect.objectContaining({ kind: 'error', code: 'timeout' });
    const expected = [
      { end: { kind: 'completed' }, said: ['Hi'] },
      { end: timeout, said: [] },
    ];
    expect(heard).toEqual(DIALECTS.map(() => expected));
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
        let fastest = Infinity;
        // A machine that stalls takes one of them longer.
        for (let tries = 0; tries < 3 && fastest >= 1_000; tries++) {
          const closed = world.provider.closed;
          const [attempt] = (await said([dialect], { chunks: ending })).attempts;
          expect(attempt).toMatchObject({ outcome: 'ok' });
          fastest = Math.min(fastest, attempt!.durationMs);
          if (ending.at(-1) === 'hang') await until(() => world.provider.closed === closed + 1);
        }
        expect(fastest).toBeLessThan(1_000);
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
      const thought = [wire.begin(), wire.reasoning({ text: 'WRONG' })];
      const called = [wire.begin(), wire.call(weather)];
      const failures: [ResponseStep[], string, LiveDelta['kind']?][] = [
        [[wire.overloaded()], 'overloaded'],
        [[wire.begin(), wire.overloaded()], 'overloaded'],
        [[...first, wire.overloaded()], 'overloaded', 'text'],
        [[...thought, wire.overloaded()], 'overloaded', 'reasoning'],
        [[...called, wire.overloaded()], 'overloaded', 'tool-call'],
        [[wire.begin(), 'cut'], 'incomplete_stream'],
        [[...first, 'cut'], 'incomplete_stream', 'text'],
        [[...thought, 'cut'], 'incomplete_stream', 'reasoning'],
        [[...called, 'cut'], 'incomplete_stream', 'tool-call'],
        [[wire.begin(), 'data: {"half\n\n'], 'protocol'],
        [[...first, 'data: {"half\n\n'], 'protocol', 'text'],
      ];
      for (const [chunks, code, committed] of failures) {
        const session = await world.create([dialect, `${dialect}-b`]);
        const deltas = world.watch(session);
        const right = wireAnswer(dialect, { text: 'Right.', finish: 'stop', usage });
        await world.turn(session, [{ chunks }, right]);
        await expectOnlySecond(session, deltas, code, committed);
      }
    },
  );

  it.each(DIALECTS)(
    'R29 what the network broke is asked for again from that target, what else failed is not: %s',
    async (dialect) => {
      const wire = wireOf(dialect);
      const right = wireAnswer(dialect, { text: 'Right.', finish: 'stop', usage });
      const failures: [ResponseStep, string, string][] = [
        ['cut', 'incomplete_stream', `${dialect}-retried retry`],
        ['data: {"half\n\n', 'protocol', `${dialect}-b fallback`],
      ];
      for (const [step, code, second] of failures) {
        for (const first of [[wire.begin()], [wire.begin(), wire.text('WRONG')]]) {
          const { content, attempts } = await said(
            [`${dialect}-retried`, `${dialect}-b`],
            { chunks: [...first, step] },
            right,
          );
          expect(content).toEqual([{ type: 'text', text: 'Right.' }]);
          expect(attempts).toMatchObject([{ outcome: 'error', error: { code } }, { outcome: 'ok' }]);
          expect(`${attempts[1]?.target} ${attempts[1]?.why}`).toBe(second);
        }
      }
      for (const unreachable of [`${dialect}-refused`, `${dialect}-tls`]) {
        const { attempts } = await said([unreachable, dialect], right);
        expect(attempts.map(({ target, why, error }) => [target, why, error?.code])).toEqual([
          [unreachable, 'primary', 'network'],
          [unreachable, 'retry', 'network'],
          [dialect, 'fallback', undefined],
        ]);
      }
    },
  );

  it('R29 a stall before or after the first word falls back, and only the second text stands', async () => {
    const plans = DIALECTS.map((dialect) => {
      const wire = wireOf(dialect);
      const begin = wire.begin();
      return {
        [`${dialect}-silent`]: [{ chunks: [begin, 'hang'] }],
        [`${dialect}-stalled`]: [{ chunks: [begin, wire.text('WRONG'), 'hang'] }],
        [`${dialect}-second`]: [{ text: 'Right.' }],
      };
    });
    timed.plan(Object.assign({}, ...plans) as Record<string, readonly Reaction[]>);
    const fallsBack = async (dialect: ReplayDialect, model: string, committed?: LiveDelta['kind']) => {
      const session = await world.create([`${dialect}-${model}`, `${dialect}-second`]);
      const deltas = world.watch(session);
      await session.prompt('Go on');
      await expectOnlySecond(session, deltas, 'timeout', committed);
    };
    await Promise.all(
      DIALECTS.flatMap((dialect) => [fallsBack(dialect, 'silent'), fallsBack(dialect, 'stalled', 'text')]),
    );
  });

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
  const deadline = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('expected it to come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
