import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { Bus } from '../connection/bus.js';
import { applyTopology } from '../topology/apply-topology.js';
import { CooldownStore, type Cooldown } from './cooldown-store.js';

describe('CooldownStore', () => {
  let servers: TestServers;
  const buses: Bus[] = [];
  let stores: CooldownStore[];
  beforeAll(async () => {
    servers = await testServers();
    for (const name of ['one', 'two', 'three']) buses.push(await Bus.connect({ url: servers.natsUrl, name }));
    await applyTopology(buses[0]!);
    stores = await Promise.all(buses.map((bus) => CooldownStore.open(bus)));
  });
  afterAll(async () => {
    for (const store of stores) store.close();
    for (const bus of buses) await bus.close();
    await servers.stop();
  });

  const seenBy = async (store: CooldownStore, target: string, isRight: (rest: Cooldown | undefined) => boolean) => {
    const deadline = Date.now() + 5_000;
    while (!isRight(store.find(target))) {
      if (Date.now() > deadline) throw new Error(`${target}: not seen, but ${JSON.stringify(store.find(target))}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  it('every replica sees a rest, under any name, and of two the longer one stands', async () => {
    const [one, two] = stores;
    const name = 'gpt 4.1: mini/π';
    await one!.rest(name, 50_000, 'rate_limited');
    await two!.rest(name, 20_000, 'overloaded');
    await seenBy(two!, name, (rest) => rest?.until === 50_000);
    await two!.rest(name, 90_000, 'overloaded');
    await seenBy(one!, name, (rest) => rest?.until === 90_000 && rest.code === 'overloaded');
  });

  it('of all who probe a rest that is over one wins, and a probe ends by its own revision alone', async () => {
    await stores[0]!.rest('probed', 1_000, 'rate_limited');
    for (const store of stores) await seenBy(store, 'probed', (rest) => rest !== undefined);
    const over = stores.map((store) => store.find('probed')!);
    const won = await Promise.all(stores.map((store, n) => store.probe('probed', over[n]!, `${n}`, 5_000)));
    const revisions = won.filter((revision) => revision !== undefined);
    expect(revisions).toHaveLength(1);
    for (const store of stores) await seenBy(store, 'probed', (rest) => rest?.isProbed === true);

    await stores[1]!.rest('probed', 4_000, 'rate_limited');
    await stores[0]!.end('probed', revisions[0]!);
    await seenBy(stores[2]!, 'probed', (rest) => rest?.isProbed === false && rest.until === 4_000);
    const again = await stores[2]!.probe('probed', stores[2]!.find('probed')!, '2', 9_000);
    await stores[2]!.end('probed', again!);
    for (const store of stores) await seenBy(store, 'probed', (rest) => rest === undefined);
    await stores[0]!.rest('probed', 7_000, 'rate_limited');
    await seenBy(stores[1]!, 'probed', (rest) => rest?.until === 7_000);
  });
});
