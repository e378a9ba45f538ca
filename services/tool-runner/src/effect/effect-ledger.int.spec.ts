import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolReply } from '@jetloop/contracts';
import { applyTopology, Bus, EffectStore, PublishUnknownError, type EffectEntry } from '@jetloop/messaging';
import { testServers } from '@jetloop/testing';
import { EffectLedger, type Begun } from './effect-ledger.js';

const ACK_WAIT_MS = 300;
const result: ToolReply['result'] = { status: 'result', content: [], isError: false, durationMs: 1 };

/** A store whose next write comes through, but its answer does not. */
class ForgetfulStore extends EffectStore {
  forgets = 0;
  override async put(...args: [string, EffectEntry, number]): Promise<number | 'moved'> {
    const written = await super.put(...args);
    if (this.forgets-- > 0) throw new PublishUnknownError('$KV.EFFECTS', 'no answer');
    return written;
  }
}

describe('the ledger of effects', () => {
  let servers: Awaited<ReturnType<typeof testServers>>;
  let bus: Bus;
  let next = 0;
  beforeAll(async () => {
    servers = await testServers();
    bus = await Bus.connect({ url: servers.natsUrl, name: 'test' });
    await applyTopology(bus);
  });
  afterAll(async () => {
    await bus.close();
    await servers.stop();
  });
  const ledger = (store = new EffectStore(bus)) =>
    new EffectLedger(store, { ackWaitMs: ACK_WAIT_MS, onMissedBeat: () => undefined });
  const effect = () => `acme.s1.1.1.${next++}`;
  const running = (begun: Begun) => {
    if (begun.kind !== 'run') throw new Error(`expected a run, got ${begun.kind}`);
    return begun.run;
  };
  const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  it('of twenty that begin at once, one runs, and the others get its result afterwards', async () => {
    const id = effect();
    const begun = await Promise.allSettled(Array.from({ length: 20 }, () => ledger().begin(id, 0, false)));
    const runs = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(runs).toHaveLength(1);
    expect(await running(runs[0]!).end({ status: 'done', result })).toBe('kept');
    expect(await ledger().begin(id, 0, false)).toEqual({ kind: 'stored', result });
  });

  it('waits for a runner that lives, however long it takes', async () => {
    const id = effect();
    const run = running(await ledger().begin(id, 0, false));
    const other = ledger();
    for (let look = 0; look < 3; look++) {
      await expect(other.begin(id, 0, true)).rejects.toMatchObject({ name: 'RetryableError', delayMs: ACK_WAIT_MS });
      await pause(ACK_WAIT_MS * 1.2);
    }
    expect(await run.end({ status: 'done', result })).toBe('kept');
  });

  it('gives up one that does not, and what that one says later is lost, whatever it wrote before', async () => {
    const id = effect();
    const run = running(await ledger().begin(id, 0, false));
    run.abandon();
    const other = ledger();
    await expect(other.begin(id, 0, true)).rejects.toMatchObject({ delayMs: ACK_WAIT_MS });
    await pause(ACK_WAIT_MS + 20);
    expect(await other.begin(id, 0, true)).toEqual({ kind: 'unknown' });
    expect(await run.end({ status: 'done', result })).toBe('lost');
    expect(await run.end({ status: 'done', result })).toBe('lost');
    expect(await ledger().begin(id, 0, true)).toEqual({ kind: 'unknown' });
  });

  it('knows its own entry again when an answer got lost, at the start and at the end', async () => {
    const id = effect();
    const store = new ForgetfulStore(bus);
    store.forgets = 1;
    const run = running(await ledger(store).begin(id, 0, false));
    store.forgets = 1;
    expect(await run.end({ status: 'done', result })).toBe('kept');
    expect(await ledger().begin(id, 0, true)).toEqual({ kind: 'stored', result });
  });

  it('says which effects it has', async () => {
    const id = effect();
    expect(await ledger().knows(id)).toBe(false);
    running(await ledger().begin(id, 0, false)).abandon();
    expect(await ledger().knows(id)).toBe(true);
  });
});
