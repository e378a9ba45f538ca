import { mkdir } from 'node:fs/promises';
import { putPolicySet, type PolicySet } from '@jetloop/hook-policy';
import { applyTopology, Bus, PolicyStore } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';

export interface ServersOptions {
  /** Where embedded servers keep their data; default: a temporary folder that goes at the end. */
  readonly dataDir?: string;
  /** Servers that run already; default: the ones of the environment, or embedded ones. */
  readonly servers?: { readonly natsUrl: string; readonly databaseUrl: string };
  /** Put into POLICIES before anything runs. */
  readonly policySets?: readonly PolicySet[];
  /** Milliseconds until a command comes again whose handler fell silent; default 30,000. */
  readonly ackWaitMs?: number;
  readonly onProgress?: (line: string) => void;
}

/** Servers with topology and policies, ready for services. */
export interface Servers {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  /** A connection for looking at the streams. */
  readonly operator: Bus;
  /** Runs when all stops, the last added first. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** May be called more than once. */
  readonly stop: () => Promise<void>;
}

/** Starts what services need before `start` starts them; stops everything again where that fails. */
export async function withServers<T>(options: ServersOptions, start: (servers: Servers) => Promise<T>): Promise<T> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  const onStop = (one: () => Promise<void>) => void stops.push(one);
  try {
    const addresses = options.servers ?? (await embedded(options, onStop));
    const operator = await Bus.connect({ url: addresses.natsUrl, name: 'operator' });
    onStop(() => operator.close());
    await applyTopology(operator, options.ackWaitMs === undefined ? {} : { ackWaitMs: options.ackWaitMs });
    await putPolicies(operator, options.policySets ?? []);
    return await start({ ...addresses, operator, onStop, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function embedded({ dataDir, onProgress }: ServersOptions, onStop: Servers['onStop']) {
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const infra = await startInfra({
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(onProgress ? { onProgress } : {}),
  });
  onStop(() => infra.stop());
  return { natsUrl: infra.natsUrl, databaseUrl: infra.databaseUrl };
}

async function putPolicies(bus: Bus, sets: readonly PolicySet[]): Promise<void> {
  const store = await PolicyStore.open(bus);
  for (const set of sets) await putPolicySet(store, JSON.stringify(set), `policy set ${set.name}`);
  store.close();
}
