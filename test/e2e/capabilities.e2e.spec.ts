import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '@jetloop/contracts';
import { wireAnswer, type ReplayDialect } from '@jetloop/testing';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';

const usage = { input: 10, output: 5 };
const PNG = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1').toString('base64');
/** What the name of a target ends in, by whether it streams. */
const FORMS = [
  ['', true],
  ['-whole', false],
] as const;
const text = { type: 'text' as const, text: 'What is this?' };
const byUrl = { type: 'image' as const, mediaType: 'image/png', url: 'https://example.com/a.png' };
const inline = { type: 'image' as const, mediaType: 'image/png', base64: PNG };

describe('what a target can take', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    const more = DIALECTS.flatMap((dialect) => [
      [`${dialect}-urls`, { dialect, capabilities: { vision: true, imageUrls: true } }] as const,
      [`${dialect}-urls-whole`, { dialect, stream: false, capabilities: { vision: true, imageUrls: true } }] as const,
      [`${dialect}-plain`, { dialect }] as const,
      [`${dialect}-plain-whole`, { dialect, stream: false }] as const,
    ]);
    world = await ProviderSystem.start(
      Object.fromEntries(
        more.map(([name, target]) => [name, 'capabilities' in target ? target : { ...target, capabilities: {} }]),
      ),
    );
  });
  afterAll(() => world.stop());

  const answer = (dialect: ReplayDialect, stream = true) =>
    wireAnswer(dialect, { text: 'A cat.', finish: 'stop', usage }, stream);
  const answeredBy = async (session: Awaited<ReturnType<typeof world.create>>) =>
    (await session.data('assistant.message')).at(-1)?.attempts.map(({ target, outcome }) => `${target} ${outcome}`);

  it.each(DIALECTS)('R12 an image by URL skips a target without imageUrls, base64 runs on it: %s', async (dialect) => {
    for (const [form, stream] of FORMS) {
      const [blind, sees] = [`${dialect}${form}`, `${dialect}-urls${form}`];
      const linked = await world.turn(await world.create([blind, sees]), [answer(dialect, stream)], [text, byUrl]);
      expect(await answeredBy(linked.session)).toEqual([`${blind} skipped`, `${sees} ok`]);
      expect(JSON.stringify(linked.requests[0])).toContain(byUrl.url);
      const sent = await world.turn(await world.create([blind, sees]), [answer(dialect, stream)], [text, inline]);
      expect(await answeredBy(sent.session)).toEqual([`${blind} ok`]);
      expect(JSON.stringify(sent.requests[0])).toContain(PNG);
    }
  });

  it('R12 a bad media type, bad base64, a bad URL, both or none: invalid', async () => {
    const session = await world.create(['chat']);
    const { bus, tenant, client } = world.system;
    const bad = [
      { ...inline, mediaType: 'text/html' },
      { ...inline, mediaType: 'image/' },
      { ...inline, base64: 'no base64!' },
      { ...inline, base64: '' },
      { ...byUrl, url: 'file:///etc/passwd' },
      { ...inline, url: byUrl.url },
      { type: 'image' as const, mediaType: 'image/png' },
    ];
    for (const block of bad) {
      await expect(client.prompt(session.id, [text, block])).rejects.toMatchObject({ code: 'invalid' });
      // And from a program that does not check.
      const commandId = randomUUID();
      const subscription = bus.nats.subscribe(subjects.outcome(tenant, session.id, commandId), { max: 1 });
      const command = { kind: 'prompt', commandId, actor: 'test', messageId: randomUUID(), content: [text, block] };
      await bus.publisher.publish(subjects.inbox(tenant, session.id), Buffer.from(JSON.stringify(command)));
      for await (const message of subscription)
        expect(message.json()).toMatchObject({ status: 'refused', code: 'invalid' });
    }
    expect(await session.data('message.queued')).toEqual([]);
  });

  it.each(DIALECTS)('R12 thinking that is switched on needs a target that can: %s', async (dialect) => {
    for (const [form, stream] of FORMS) {
      const [plain, able] = [`${dialect}-plain${form}`, `${dialect}${form}`];
      const thinking = (...chain: string[]) => world.create(chain, { model: { chain, thinking: true } });
      const thinks = await world.turn(await thinking(plain, able), [answer(dialect, stream)]);
      expect(await answeredBy(thinks.session)).toEqual([`${plain} skipped`, `${able} ok`]);
      const none = await world.turn(await thinking(plain), []);
      expect(none.end).toMatchObject({ kind: 'error', code: 'unsupported_capability' });
    }
  });

  /** The user message of a request to a target of a dialect. */
  const askedIn = (dialect: ReplayDialect, parts: readonly object[]) =>
    dialect === 'google'
      ? { contents: expect.arrayContaining([{ role: 'user', parts }]) }
      : { messages: expect.arrayContaining([{ role: 'user', content: parts }]) };
  const wireText = (dialect: ReplayDialect, said: string, hint = {}) =>
    dialect === 'google' ? { text: said } : { type: 'text', text: said, ...hint };
  const wireImage = (dialect: ReplayDialect, hint = {}) => {
    if (dialect === 'google') return { inlineData: { mimeType: 'image/png', data: PNG } };
    if (dialect === 'chat') return { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` }, ...hint };
    return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG }, ...hint };
  };

  it.each(DIALECTS)(
    'R13 a cache hint on the first user part is in both requests, on no other part; google has none: %s',
    async (dialect) => {
      const calls = [{ id: 'a', name: 'list_dir', arguments: '{"path":"."}' }];
      const cache = { type: 'ephemeral' };
      const more = { type: 'text' as const, text: 'And that?' };
      for (const [form, stream] of FORMS) {
        const called = wireAnswer(dialect, { calls, finish: 'tool-calls', usage }, stream);
        const answers = [called, answer(dialect, stream)];
        const session = await world.create([`${dialect}${form}`], { tools: ['list_dir'] });
        const onText = await world.turn(session, answers, [{ ...text, cache }, more]);
        const onImage = await world.turn(session, answers, [{ ...inline, cache }, more]);
        expect([onText.end, onImage.end]).toEqual([{ kind: 'completed' }, { kind: 'completed' }]);
        const hint = { cache_control: cache };
        const rest = wireText(dialect, more.text);
        const [first, second] = [
          [wireText(dialect, text.text, hint), rest],
          [wireImage(dialect, hint), rest],
        ];
        for (const request of [...onText.requests, ...onImage.requests])
          expect(request).toMatchObject(askedIn(dialect, first));
        for (const request of onImage.requests) expect(request).toMatchObject(askedIn(dialect, second));
        // Known not to cache: the same without hints.
        const uncached = await world.create([`${dialect}-urls${form}`], { tools: ['list_dir'] });
        const { requests } = await world.turn(uncached, answers, [
          { ...text, cache },
          { ...inline, cache },
        ]);
        const bare = [wireText(dialect, text.text), wireImage(dialect)];
        for (const request of requests) expect(request).toMatchObject(askedIn(dialect, bare));
      }
    },
  );
});
