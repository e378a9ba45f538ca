import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bus } from '../connection/bus.js';
import { topologyOf } from '../topology/topology.js';
import type { JournalEntry } from './journal-entry.js';
import { JournalFollower } from './journal-follower.js';

const MAX_BATCH = 150;

describe('JournalFollower', () => {
  let servers: TestServers;
  let bus: Bus;
  let reads = 0;
  let written = 0;

  beforeAll(async () => {
    servers = await testServers();
    bus = await Bus.connect({ url: servers.natsUrl, name: 'follower-test' });
    const journal = topologyOf().streams.find(({ name }) => name === 'JOURNAL');
    await bus.api('STREAM.CREATE.JOURNAL', journal);
    bus.nats.subscribe('$JS.API.DIRECT.GET.JOURNAL', { callback: () => void (reads += 1) });
  });
  afterAll(async () => {
    await bus.close();
    await servers.stop();
  });

  async function write(count: number, body = '{}'): Promise<number> {
    for (let i = 0; i < count; i += 1) {
      const { sequence } = await bus.publisher.publish(`log.acme.s${i % 7}`, Buffer.from(body));
      written = Math.max(written, sequence);
    }
    return written;
  }

  function follow(follower: JournalFollower, from: number, work: (batch: JournalEntry[]) => Promise<void> | void) {
    const ending = new AbortController();
    const seen: number[] = [];
    const running = (async () => {
      for await (const batch of follower.follow(from, { maxBatch: MAX_BATCH, signal: ending.signal })) {
        seen.push(...batch.map(({ streamSequence }) => streamSequence));
        await work(batch);
      }
    })();
    const end = async () => {
      ending.abort();
      await running;
    };
    return { seen, end };
  }

  async function until(isTrue: () => boolean): Promise<void> {
    for (let tries = 0; tries < 1_000 && !isTrue(); tries += 1) await sleep(5);
    expect(isTrue()).toBe(true);
  }

  const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1);

  it('gives every follower every commit once and in order, from wherever each begins', async () => {
    const before = await write(400);
    const follower = new JournalFollower(bus);
    const all = [0, 7, before].map((from) => ({ from, ...follow(follower, from, () => undefined) }));
    await write(500);
    await until(() => all.every(({ seen }) => seen.at(-1) === written));
    for (const { from, seen, end } of all) {
      await end();
      expect(seen).toEqual(upTo(from, written));
    }
  });

  it('reads the journal once for all who have caught up, and a batch for the commits of a pause', async () => {
    const follower = new JournalFollower(bus);
    const batches: [JournalEntry[][], JournalEntry[][]] = [[], []];
    const first = follow(follower, written, (batch) => void batches[0].push(batch));
    const second = follow(follower, written, (batch) => void batches[1].push(batch));
    await write(1);
    await until(() => first.seen.length === 1 && second.seen.length === 1);
    const began = performance.now();
    const [readsBefore, from] = [reads, written];
    while (performance.now() - began < 600) {
      await Promise.all(Array.from({ length: 40 }, () => write(1)));
      await sleep(2);
    }
    await until(() => first.seen.at(-1) === written && second.seen.at(-1) === written);
    const most = (performance.now() - began) / 50 + 5;
    expect(written - from).toBeGreaterThan(2 * most);
    expect(reads - readsBefore).toBeLessThan(most);
    expect(batches.flat().length).toBeLessThan(2 * (most + (written - from) / MAX_BATCH));
    // Parsed once: both got the same entries.
    const [one, other] = batches.map((of) => of.at(-1)?.at(-1));
    expect(one).toBeDefined();
    expect(other).toBe(one);
    await Promise.all([first.end(), second.end()]);
  });

  it('fails at once where the connection is closed', async () => {
    const closed = await Bus.connect({ url: servers.natsUrl, name: 'closed' });
    await closed.close();
    await expect(new JournalFollower(closed).behind(0)).rejects.toThrow(/CLOSED/);
  });

  it('brings a commit within a moment, after a pause and after a second of silence', async () => {
    const follower = new JournalFollower(bus);
    const { seen, end } = follow(follower, written, () => undefined);
    const fastest = new Map<number, number>();
    // Three times: a machine that stalls takes one of them longer.
    for (const pause of [0, 100, 1_500, 0, 100, 1_500, 0, 100, 1_500]) {
      await sleep(pause);
      const began = performance.now();
      await write(1);
      await until(() => seen.at(-1) === written);
      fastest.set(pause, Math.min(performance.now() - began, fastest.get(pause) ?? Infinity));
    }
    for (const milliseconds of fastest.values()) expect(milliseconds).toBeLessThan(500);
    await end();
  });

  it('lets a follower that is slow fall behind what is kept, alone, and loses nothing', async () => {
    const follower = new JournalFollower(bus);
    const from = written;
    const gate = Promise.withResolvers<undefined>();
    const slow = follow(follower, from, () => gate.promise);
    const quick = follow(follower, from, () => undefined);
    await write(1);
    await until(() => slow.seen.length === 1);
    const body = JSON.stringify({ filler: 'x'.repeat(100_000) });
    await write(250, body);
    await until(() => quick.seen.at(-1) === written);
    expect(slow.seen).toHaveLength(1);
    gate.resolve(undefined);
    await until(() => slow.seen.at(-1) === written);
    await Promise.all([slow.end(), quick.end()]);
    expect(slow.seen).toEqual(upTo(from, written));
    expect(quick.seen).toEqual(upTo(from, written));
  });

  it('says how far a position is behind', async () => {
    const follower = new JournalFollower(bus);
    const from = written;
    expect(await follower.behind(from)).toEqual({ commits: 0, seconds: 0 });
    await write(3);
    await sleep(120);
    const { commits, seconds } = await follower.behind(from);
    expect(commits).toBe(3);
    expect(seconds).toBeGreaterThan(0.1);
    expect(seconds).toBeLessThan(30);
    expect(await follower.behind(from + 2)).toMatchObject({ commits: 1 });
  });

  it('goes on over commits that were removed', async () => {
    const from = written;
    await write(20);
    await bus.api('STREAM.PURGE.JOURNAL', { filter: 'log.acme.s3' });
    const follower = new JournalFollower(bus);
    const { seen, end } = follow(follower, from, () => undefined);
    await write(7);
    await until(() => seen.at(-1) === written);
    await end();
    expect(seen).toHaveLength(27 - 3);
  });

  it('says what is wrong with a message that is no commit', async () => {
    const follower = new JournalFollower(bus);
    const from = await write(1, 'no JSON');
    for await (const [entry] of follower.follow(from - 1, { maxBatch: 1, signal: new AbortController().signal })) {
      expect(entry).toMatchObject({ streamSequence: from, problem: expect.stringContaining('JSON') });
      break;
    }
  });
});
