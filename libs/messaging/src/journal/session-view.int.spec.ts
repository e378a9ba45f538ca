import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Commit } from '@jetloop/contracts';
import { testServers, type TestServers } from '@jetloop/testing';
import { Bus } from '../connection/bus.js';
import { RetryableError } from '../errors.js';
import { topologyOf } from '../topology/topology.js';
import { Journal } from './journal.js';
import { SessionReader } from './session-reader.js';

describe('SessionReader', () => {
  let servers: TestServers;
  let bus: Bus;
  let reads = 0;
  const last = new Map<string, { next: number; streamSequence: number }>();

  beforeAll(async () => {
    servers = await testServers();
    bus = await Bus.connect({ url: servers.natsUrl, name: 'session-view-test' });
    await bus.api(
      'STREAM.CREATE.JOURNAL',
      topologyOf().streams.find(({ name }) => name === 'JOURNAL'),
    );
    bus.nats.subscribe('$JS.API.DIRECT.GET.JOURNAL', { callback: () => void (reads += 1) });
  });
  afterAll(async () => {
    await bus.close();
    await servers.stop();
  });

  /** Commits two events of a type that no build knows; the sequence of the second. */
  async function commit(session: string, skip = 0): Promise<number> {
    const { next, streamSequence } = last.get(session) ?? { next: 0, streamSequence: 0 };
    const first = next + skip;
    const written: Commit = {
      tenant: 'acme',
      session,
      causation: `c${first}`,
      actor: 'ada',
      at: '2026-11-30T12:00:00Z',
      events: [first, first + 1].map((sequence) => ({ sequence, type: 'note', version: 1, data: { sequence } })),
    };
    const stored = await new Journal(bus).commit(written, streamSequence);
    if (stored === 'lost') throw new Error('another writer was first');
    last.set(session, { next: first + 2, streamSequence: stored });
    return first + 1;
  }
  const sequences = (count: number) => Array.from({ length: count }, (_, index) => index);
  const read = async (reader: SessionReader, session: string, upTo: number) =>
    (await reader.read('acme', session, upTo)).map(({ sequence }) => sequence);

  it('reads the journal once, then what the feed brings, whenever that is asked for', async () => {
    const reader = new SessionReader(bus);
    await commit('warm');
    expect(await read(reader, 'warm', await commit('warm'))).toEqual(sequences(4));
    const before = reads;
    for (let i = 0; i < 20; i += 1) await commit('warm');
    await bus.nats.flush();
    expect(await read(reader, 'warm', 43)).toEqual(sequences(44));
    expect(await read(reader, 'warm', await commit('warm').finally(() => bus.nats.flush()))).toEqual(sequences(46));
    expect(reads).toBe(before);
    reader.close();
  });

  it('fills from the journal what the feed did not bring', async () => {
    const reader = new SessionReader(bus);
    expect(await read(reader, 'gap', await commit('gap'))).toEqual(sequences(2));
    const { republish, ...silent } = (await bus.api<{ config: Record<string, unknown> }>('STREAM.INFO.JOURNAL')).config;
    await bus.api('STREAM.UPDATE.JOURNAL', silent);
    await commit('gap');
    await bus.api('STREAM.UPDATE.JOURNAL', { ...silent, republish });
    const upTo = await commit('gap');
    await bus.nats.flush();
    const before = reads;
    expect(await read(reader, 'gap', upTo)).toEqual(sequences(6));
    expect(reads).toBe(before + 1);
    reader.close();
  });

  it('takes nothing from a feed that is not the journal saying what it stored', async () => {
    const reader = new SessionReader(bus);
    expect(await read(reader, 'forged', await commit('forged'))).toEqual(sequences(2));
    bus.nats.publish('feed.acme.forged', JSON.stringify({ events: [{ sequence: 2, type: 'x', version: 1 }] }));
    bus.nats.publish('feed.acme.forged', 'no JSON');
    await bus.nats.flush();
    await expect(read(reader, 'forged', 2)).rejects.toThrow(RetryableError);
    expect(await read(reader, 'forged', await commit('forged'))).toEqual(sequences(4));
    reader.close();
  });

  it('reads on where the journal lacks nothing, and waits for what it lacks', async () => {
    const reader = new SessionReader(bus);
    await commit('damaged');
    expect(await read(reader, 'damaged', 1)).toEqual(sequences(2));
    await commit('damaged', 3);
    await bus.nats.flush();
    await expect(read(reader, 'damaged', 5)).rejects.toThrow(RetryableError);
    reader.close();
  });

  it('gives every one of many readers at once all events', async () => {
    const reader = new SessionReader(bus);
    for (let i = 0; i < 10; i += 1) {
      const upTo = await commit('busy');
      const all = await Promise.all(sequences(5).map(() => read(reader, 'busy', upTo)));
      expect(all).toEqual(sequences(5).map(() => sequences(upTo + 1)));
    }
    reader.close();
  });

  it('keeps no more bytes than it may, and always the session that was read last', async () => {
    const reader = new SessionReader(bus, 1_000);
    const names = ['one', 'two', 'three'];
    for (const name of names) await commit(name);
    for (const name of names) await read(reader, name, await commit(name));
    const before = reads;
    expect(await read(reader, 'three', 3)).toEqual(sequences(4));
    expect(reads).toBe(before);
    // What the feed brings counts too: 'one' is read again, because it had to go.
    for (const name of names) expect(await read(reader, name, 3)).toEqual(sequences(4));
    expect(reads).toBeGreaterThan(before);
    reader.close();
    const roomy = new SessionReader(bus);
    for (const name of names) await read(roomy, name, 3);
    const after = reads;
    for (const name of names) expect(await read(roomy, name, 3)).toEqual(sequences(4));
    expect(reads).toBe(after);
    roomy.close();
  });
});
