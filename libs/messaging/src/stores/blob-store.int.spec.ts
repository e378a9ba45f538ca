import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { Bus } from '../connection/bus.js';
import { applyTopology } from '../topology/apply-topology.js';
import { BlobNotFoundError, BlobStore } from './blob-store.js';

const bytes = (length: number) => new Uint8Array(length).fill(7);

describe('the blob store', () => {
  let servers: TestServers;
  let buses: Bus[] = [];
  beforeAll(async () => {
    servers = await testServers();
    const connect = () => Bus.connect({ url: servers.natsUrl, name: 'test' });
    buses = await Promise.all([connect(), connect()]);
    await applyTopology(buses[0]!);
  });
  afterAll(async () => {
    for (const bus of buses) await bus.close();
    await servers.stop();
  });
  const chunks = async (): Promise<number> => {
    const { state } = await buses[0]!.api<{ state: { subjects?: Record<string, number> } }>('STREAM.INFO.OBJ_BLOBS', {
      subjects_filter: '$O.BLOBS.C.>',
    });
    return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  };

  it('stores the same bytes once, whoever comes with them at the same instant', async () => {
    const stores = [...buses, ...buses].map((bus) => new BlobStore(bus));
    const refs = await Promise.all(stores.map((store) => store.put('acme', 's1', bytes(300_000), 'text/plain')));
    const [ref] = refs;
    expect(refs).toEqual(refs.map(() => ref));
    expect(await stores[0]!.get('acme', 's1', ref!.digest)).toEqual(bytes(300_000));
    expect(await chunks()).toBe(3);
  });

  it('what was deleted is gone, with all its bytes, and can be stored again from anywhere', async () => {
    const [here, there] = buses.map((bus) => new BlobStore(bus));
    const { digest } = await there!.put('acme', 's1', bytes(300_000), 'text/plain');
    await here!.delete('acme', 's1', digest);
    await expect(there!.get('acme', 's1', digest)).rejects.toBeInstanceOf(BlobNotFoundError);
    expect(await chunks()).toBe(0);
    await there!.put('acme', 's1', bytes(300_000), 'text/plain');
    expect(await here!.get('acme', 's1', digest)).toEqual(bytes(300_000));
    await here!.delete('acme', 's1', 'f'.repeat(64));
  });
});
