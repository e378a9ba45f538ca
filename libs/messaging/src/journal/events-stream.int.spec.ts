import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { Bus } from '../connection/bus.js';
import { PublishRefusedError } from '../errors.js';
import { topologyOf, type TopologyOptions } from '../topology/topology.js';
import { EventsStream, LostRaceError } from './events-stream.js';

describe('EventsStream', () => {
  let servers: TestServers;
  let bus: Bus;
  let stream: EventsStream;

  const create = async (options: TopologyOptions = {}) => {
    const config = topologyOf(options).streams.find(({ name }) => name === 'EVENTS');
    await bus.api('STREAM.DELETE.EVENTS').catch(() => undefined); // there is none at first
    await bus.api('STREAM.CREATE.EVENTS', config);
  };
  const events = (count: number, from = 1, bytes = 10) =>
    Array.from({ length: count }, (_, index) => ({
      subject: 'evt.acme.s1.note',
      body: Buffer.from(String(from + index).padEnd(bytes)),
      journal: { streamSequence: from + index, index: 0 },
    }));
  const stored = async () => (await bus.api<{ state: { messages: number } }>('STREAM.INFO.EVENTS')).state.messages;

  const bodyOf = async (seq: number) => {
    const { message } = await bus.api<{ message: { data: string } }>('STREAM.MSG.GET.EVENTS', { seq });
    return Buffer.from(message.data, 'base64').toString().trim();
  };

  beforeAll(async () => {
    servers = await testServers();
    bus = await Bus.connect({ url: servers.natsUrl, name: 'events-test' });
    await bus.api(
      'STREAM.CREATE.KV_POSITIONS',
      topologyOf().streams.find(({ name }) => name === 'KV_POSITIONS'),
    );
    stream = new EventsStream(bus);
  });
  beforeEach(() => create());
  afterAll(async () => {
    await bus.close();
    await servers.stop();
  });

  it('stores events in order, and says where they end', async () => {
    expect(await stream.last()).toEqual({ sequence: 0 });
    expect(await stream.publish(events(500), 0)).toBe(500);
    expect(await stream.publish(events(1, 501), 500)).toBe(501);
    expect(await stream.last()).toEqual({ sequence: 501, journal: { streamSequence: 501, index: 0 } });
    expect(await bodyOf(250)).toBe('250');
  });

  it('stores none of what does not follow the end of the stream', async () => {
    await stream.publish(events(10), 0);
    await expect(stream.publish(events(300, 12), 11)).rejects.toThrow(LostRaceError);
    expect(await stored()).toBe(10);
  });

  it('stores each event once, in its place, when two publish the same ones', async () => {
    await stream.publish(events(10), 0);
    await expect(stream.publish(events(300), 0)).rejects.toThrow(LostRaceError);
    expect(await stream.last()).toEqual({ sequence: 300, journal: { streamSequence: 300, index: 0 } });
    for (const seq of [1, 10, 11, 299]) expect(await bodyOf(seq)).toBe(String(seq));
  });

  it('knows where a stream that is empty of age ended, if that was kept and nothing came after', async () => {
    await stream.publish(events(20), 0);
    await bus.api('STREAM.PURGE.EVENTS', {});
    expect(await stream.last()).toEqual({ sequence: 20 });
    const end = (at: number) => ({ sequence: at, journal: { streamSequence: at, index: 0 } });
    await stream.remember(end(20));
    expect(await stream.last()).toEqual(end(20));
    await stream.remember(end(7)); // by an unfolder that slept
    expect(await stream.last()).toEqual(end(20));
    await Promise.all([stream.remember(end(21)), stream.remember(end(21))]);
    await stream.publish(events(1, 21), 20);
    await bus.api('STREAM.PURGE.EVENTS', {});
    expect(await stream.last()).toEqual(end(21));
    await stream.publish(events(1, 22), 21);
    await bus.api('STREAM.PURGE.EVENTS', {});
    expect(await stream.last()).toEqual({ sequence: 22 });
  });

  it('stores what fits when the stream is full in between, and nothing behind it', async () => {
    await create({ eventsMaxBytes: 100_000 });
    await expect(stream.publish(events(100, 1, 2_000), 0)).rejects.toThrow(LostRaceError);
    const { sequence, journal } = await stream.last();
    expect(sequence).toBeGreaterThan(10);
    expect(journal).toEqual({ streamSequence: sequence, index: 0 });
    // The next try says why.
    await expect(stream.publish(events(10, sequence + 1, 2_000), sequence)).rejects.toThrow(PublishRefusedError);
  });
});
