import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '@jetloop/contracts';
import { wireAnswer, type ReplayDialect } from '@jetloop/testing';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';

const usage = { input: 10, output: 5 };
const PNG = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1').toString('base64');
const text = { type: 'text' as const, text: 'What is this?' };
const byUrl = { type: 'image' as const, mediaType: 'image/png', url: 'https://example.com/a.png' };
const inline = { type: 'image' as const, mediaType: 'image/png', base64: PNG };

describe('what a target can take', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    const more = DIALECTS.flatMap((dialect) => [
      [`${dialect}-urls`, { dialect, capabilities: { vision: true, imageUrls: true } }] as const,
      [`${dialect}-plain`, { dialect }] as const,
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
    const chain = [dialect, `${dialect}-urls`];
    const linked = await world.turn(await world.create(chain), [answer(dialect)], [text, byUrl]);
    expect(await answeredBy(linked.session)).toEqual([`${dialect} skipped`, `${dialect}-urls ok`]);
    expect(JSON.stringify(linked.requests[0])).toContain(byUrl.url);
    const sent = await world.turn(await world.create(chain), [answer(dialect)], [text, inline]);
    expect(await answeredBy(sent.session)).toEqual([`${dialect} ok`]);
    expect(JSON.stringify(sent.requests[0])).toContain(PNG);
    const whole = await world.turn(await world.create([`${dialect}-whole`]), [answer(dialect, false)], [text, inline]);
    expect(whole.end).toEqual({ kind: 'completed' });
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
    const chain = [`${dialect}-plain`, dialect];
    const thinks = await world.turn(await world.create(chain, { model: { chain, thinking: true } }), [answer(dialect)]);
    expect(await answeredBy(thinks.session)).toEqual([`${dialect}-plain skipped`, `${dialect} ok`]);
    const only = [`${dialect}-plain`];
    const none = await world.turn(await world.create(only, { model: { chain: only, thinking: true } }), []);
    expect(none.end).toMatchObject({ kind: 'error', code: 'unsupported_capability' });
  });

  it.each(['chat', 'anthropic'] as const)(
    'R13 a cache hint on the first user part is in both requests: %s',
    async (dialect) => {
      for (const stream of [true, false]) {
        const session = await world.create([stream ? dialect : `${dialect}-whole`], { tools: ['list_dir'] });
        const calls = [{ id: 'a', name: 'list_dir', arguments: '{"path":"."}' }];
        const called = wireAnswer(dialect, { calls, finish: 'tool-calls', usage }, stream);
        const hinted = { ...text, cache: { type: 'ephemeral' } };
        const { requests } = await world.turn(
          session,
          [called, answer(dialect, stream)],
          [hinted, { type: 'text', text: 'And that?' }],
        );
        for (const request of requests) {
          const firstPart = expect.objectContaining({ text: text.text, cache_control: { type: 'ephemeral' } });
          expect(request).toMatchObject({
            messages: expect.arrayContaining([{ role: 'user', content: expect.arrayContaining([firstPart]) }]),
          });
        }
      }
    },
  );
});
