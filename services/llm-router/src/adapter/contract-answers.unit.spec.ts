import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ContentBlock, LlmError } from '@jetloop/contracts';
import { wireAnswer, wireOf, type ReplayServer, type WireAnswer, type WireFinish } from '@jetloop/testing';
import { attempt, errorOf, providerServer, requestTo, textOf } from './adapter-driver.fixture.spec.js';

const BOTH = [true, false];
const usage = { input: 10, cacheRead: 4, output: 5 };
const weather = { id: 'call_1', name: 'weather', arguments: '{"city":"Lisbon"}' };
const FINISHES: readonly WireFinish[] = ['stop', 'tool-calls', 'max-tokens', 'content-filter'];

let provider: ReplayServer;
beforeAll(async () => {
  provider = await providerServer({ strict: true });
});
afterAll(() => provider.stop());

/** What every dialect must make of the same answer, whether its words come from a wire or from a script. */
describe.each(['chat', 'anthropic', 'google', 'scripted'] as const)(
  'every adapter keeps the contract: %s',
  (dialect) => {
    type Driver = Parameters<typeof attempt>[1];
    const scripted = (rule: object, driver?: Driver, more: object = {}) =>
      attempt(requestTo(provider, { target: { dialect, script: [rule] }, ...more }), driver);
    const say = (answer: WireAnswer, stream = true, driver?: Driver, more: object = {}) => {
      if (dialect === 'scripted') return scripted(ruleOf(answer), driver, more);
      provider.respond(wireAnswer(dialect, answer, stream));
      return attempt(requestTo(provider, { target: { dialect, stream }, ...more }), driver);
    };
    const refuse = (status: number, code: LlmError['code']) => {
      if (dialect === 'scripted')
        return scripted({ error: { code, message: 'Not now.', status, retryAfterMs: 1_500 } });
      provider.respond({ ...wireOf(dialect).refusal(status, 'Not now.'), headers: { 'retry-after': '1.5' } });
      return attempt(requestTo(provider, { target: { dialect } }));
    };
    const calls = (content: readonly ContentBlock[]) => content.filter((block) => block.type === 'tool-call');

    it.each(BOTH)('text, usage and the model that was asked, streamed: %s', async (stream) => {
      const text = 'The sky is "blue" – día, 空 and 🌊.\n\n';
      const { assembled } = await say({ text, finish: 'stop', usage }, stream);
      expect(assembled).toMatchObject({ content: [{ type: 'text', text }], end: { finish: 'stop' } });
      expect(assembled.usage).toEqual({ ...usage, cacheWrite: 0 });
      expect(assembled.model).toMatchObject({ target: 'main', provider: 'test', model: 'chat-text' });
    });

    it.each(BOTH)('calls with their raw arguments, behind reasoning and text, streamed: %s', async (stream) => {
      const second = { id: 'call_2', name: 'time', arguments: '{}' };
      const answer = { reasoning: [{ text: 'Hm.', signature: 'c2ln' }], text: 'Look:', calls: [weather, second] };
      const { assembled } = await say({ ...answer, finish: 'tool-calls', usage }, stream);
      expect(assembled.end).toEqual({ finish: 'tool-calls' });
      expect(assembled.content).toMatchObject([
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Look:' },
        { type: 'tool-call', ...weather },
        { type: 'tool-call', ...second },
      ]);
    });

    it.each(['max-tokens', 'content-filter'] as const)('%s is stronger than calls', async (finish) => {
      for (const stream of BOTH) {
        const { assembled } = await say({ calls: [weather], finish, usage }, stream);
        expect(assembled.end).toEqual({ finish });
        expect(calls(assembled.content)).toHaveLength(1);
      }
    });

    it.each(FINISHES)('text that ends with %s is an answer, or announces calls that did not come', async (finish) => {
      // Google has no reason of its own for calls.
      const expected = finish === 'tool-calls' && dialect === 'google' ? 'stop' : finish;
      for (const stream of BOTH) {
        const answered = await say({ text: 'Hi', finish, usage }, stream);
        if (expected === 'tool-calls') expect(errorOf(answered)).toMatchObject({ code: 'tool_call_assembly' });
        else expect(answered.assembled.end).toEqual({ finish: expected });
      }
    });

    it('a plain stop with calls is tool-calls; an answer without anything is none, unless a tool was called', async () => {
      expect((await say({ calls: [weather], finish: 'stop', usage })).assembled.end).toEqual({ finish: 'tool-calls' });
      const messages = [
        { role: 'user', content: [{ type: 'text', text: 'Look' }] },
        { role: 'assistant', content: [{ type: 'tool-call', ...weather }] },
        { role: 'tool', callId: 'call_1', name: 'weather', content: [{ type: 'text', text: 'Sun.' }] },
      ];
      for (const stream of BOTH) {
        const empty: WireAnswer = { finish: 'stop', usage };
        expect(errorOf(await say(empty, stream))).toMatchObject({ code: 'empty_response' });
        expect((await say(empty, stream, undefined, { messages })).assembled.end).toEqual({ finish: 'stop' });
      }
    });

    it.each([
      [400, 'bad_request', false],
      [429, 'rate_limited', true],
      [500, 'server_error', false],
      [503, 'overloaded', true],
    ] as const)('%d is one error, last: %s', async (status, code, retryable) => {
      const error = errorOf(await refuse(status, code));
      expect(error).toMatchObject({ code, status, message: 'Not now.', retryable, retryAfterMs: 1_500 });
    });

    it('an abort before the call, or behind a word, is one error, last', async () => {
      const target =
        dialect === 'scripted' ? { dialect, script: [ruleOf({ text: 'Hi', finish: 'stop' })] } : { dialect };
      const before = await attempt(requestTo(provider, { target }), { signal: AbortSignal.abort() });
      expect([errorOf(before).code, textOf(before)]).toEqual(['aborted', '']);
      if (dialect !== 'scripted')
        provider.respond({ chunks: [wireOf(dialect).begin(), wireOf(dialect).text('Hi'), 'hang'] });
      const controller = new AbortController();
      const driver: Driver = {
        signal: controller.signal,
        onPart: ({ kind }) => {
          if (kind === 'text') controller.abort();
        },
      };
      const during =
        dialect === 'scripted'
          ? await scripted(ruleOf({ text: 'Hi', calls: [weather], finish: 'stop', usage }), driver)
          : await attempt(requestTo(provider, { target: { dialect } }), driver);
      expect([errorOf(during).code, textOf(during)]).toEqual(['aborted', 'Hi']);
      expect(calls(during.assembled.content)).toEqual([]);
    });
  },
);

/** The rule of a script by which the same is said. */
function ruleOf({ reasoning = [], text, calls = [], finish, usage: counted }: WireAnswer): object {
  const thought = reasoning.map((each) => each.text).join('');
  const toolCalls = calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }));
  return {
    reply: { ...(text === undefined ? {} : { text }), reasoning: thought, toolCalls, finishReason: finish },
    ...(counted ? { usage: counted } : {}),
  };
}
