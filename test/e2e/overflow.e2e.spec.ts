import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wireAnswer, wireOf, type PlannedResponse, type ReplayDialect } from '@jetloop/testing';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';

const usage = { input: 10, output: 5 };
type Case = [dialect: ReplayDialect, status: number, message: string, code?: string | undefined];

/** As providers write it when a prompt does not fit. */
const OVERFLOWS: Case[] = [
  ['chat', 400, 'Your input exceeds the context window of this model.', 'context_length_exceeded'],
  ['chat', 400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."],
  ['chat', 400, 'the request exceeds the available context size, try increasing it', 'exceed_context_size_error'],
  ['chat', 413, 'Please reduce the length of the messages or completion.'],
  ['chat', 422, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
  ['chat', 400, 'Range of input length should be [1, 30720]'],
  ['chat', 400, 'Input is longer than the maximum model length of 4096.'],
  ['chat', 400, 'Your request exceeded model token limit: 131072'],
  ['anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum'],
  ['anthropic', 413, 'Prompt is too long'],
  ['google', 400, 'The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).'],
  ['google', 400, 'Request exceeds the context window of 1048576 tokens'],
];
/** Words of that kind about something else, or under a status that means something else. */
const DECOYS: [...Case, string][] = [
  ['chat', 429, 'Rate limit reached: maximum context length is not the point', '', 'rate_limited'],
  [
    'chat',
    400,
    'max_tokens is too large: 90000. This model supports at most 4096 completion tokens',
    '',
    'bad_request',
  ],
  ['anthropic', 413, 'Request exceeds the maximum allowed number of bytes.', 'request_too_large', 'request_too_large'],
  ['anthropic', 429, 'prompt is too long for your rate limit', 'rate_limit_error', 'rate_limited'],
  ['google', 400, 'The number of function response parts is too long a story', 'INVALID_ARGUMENT', 'bad_request'],
  // The last: a target that refuses its key rests.
  ['chat', 401, 'maximum context length', '', 'auth'],
];

describe('a conversation that is too long', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    const small = { capabilities: { contextWindow: 1_600 } };
    world = await ProviderSystem.start(
      Object.fromEntries(DIALECTS.map((dialect) => [`${dialect}-small`, { dialect, ...small }])),
    );
  });
  afterAll(() => world.stop());

  const says = (dialect: ReplayDialect, text: string) => wireAnswer(dialect, { text, finish: 'stop', usage });
  const refusal = ([dialect, status, message, code]: Case): PlannedResponse =>
    wireOf(dialect).refusal(status, message, code === '' ? undefined : code);
  /** A session with a turn behind it, which a compaction may replace. */
  const spoken = async (dialect: ReplayDialect, chain: readonly string[] = [dialect], length = 400) => {
    const session = await world.create(chain);
    await world.turn(session, [says(dialect, 'A long story. '.repeat(length))], 'Tell me one');
    return session;
  };

  it.each(OVERFLOWS)('R42 %s %d %s: no retry, one compaction, then the answer', async (...given) => {
    const [dialect] = given;
    // It could retry: an answer that a retry takes would be the wrong one.
    const session = await spoken(dialect, [`${dialect}-again`]);
    const answers = [refusal(given), says(dialect, 'Summary.'), says(dialect, 'Done.')];
    const { end, requests } = await world.turn(session, answers);
    expect(end).toEqual({ kind: 'completed' });
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests[2])).toContain('Summary.');
    expect(JSON.stringify(requests[2])).not.toContain('A long story.');
    expect((await session.types()).filter((type) => type === 'compaction.summary')).toHaveLength(1);
  });

  it.each(DIALECTS)('R42 an empty body is one above 80 %% of the window, and none below: %s', async (dialect) => {
    const target = `${dialect}-small`;
    for (const status of [400, 413, 422]) {
      const empty = { status, body: '' };
      // About 1,400 tokens, of which the story is a small part, and about 1,200.
      const full = await spoken(dialect, [target], 20);
      const answers = [empty, says(dialect, 'Summary.'), says(dialect, 'Done.')];
      expect((await world.turn(full, answers, 'word '.repeat(1_050))).end).toEqual({ kind: 'completed' });
      expect(await full.types()).toContain('compaction.summary');
      const half = await spoken(dialect, [target], 20);
      const { end } = await world.turn(half, [empty], 'word '.repeat(900));
      expect(end).toMatchObject({ kind: 'error' });
      expect(end).not.toMatchObject({ code: 'context_overflow' });
      expect(await half.types()).not.toContain('compaction.start');
    }
  });

  it.each(DIALECTS)('R42 what the window cannot hold is compacted before any call: %s', async (dialect) => {
    const session = await spoken(dialect, [`${dialect}-small`], 350);
    const { end, requests } = await world.turn(
      session,
      [says(dialect, 'Summary.'), says(dialect, 'Done.')],
      'word '.repeat(800),
    );
    expect(end).toEqual({ kind: 'completed' });
    expect(JSON.stringify(requests[0])).toContain('A long story.');
    expect(JSON.stringify(requests[1])).not.toContain('A long story.');
    // Nothing is left out of the prompt itself: there is no call, and no answer.
    const alone = await world.turn(await world.create([`${dialect}-small`]), [], 'word '.repeat(1_400));
    expect(alone.end).toMatchObject({ kind: 'error', code: 'context_overflow' });
  });

  it('R42 what does not fit after its compaction is an error', async () => {
    const session = await spoken('chat');
    const overflow = refusal(OVERFLOWS[0]!);
    const { end } = await world.turn(session, [overflow, says('chat', 'Summary.'), overflow]);
    expect(end).toMatchObject({ kind: 'error', code: 'context_overflow' });
  });

  it.each(DECOYS)('R42 %s %d %s is none', async (dialect, status, message, code, expected) => {
    const session = await spoken(dialect);
    const { end } = await world.turn(session, [refusal([dialect, status, message, code])]);
    expect(end).toMatchObject({ kind: 'error', code: expected });
    expect(await session.types()).not.toContain('compaction.start');
  });
});
