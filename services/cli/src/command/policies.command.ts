import { JetloopClient, type SessionEntry } from '@jetloop/client';
import { readPolicySetHeader } from '@jetloop/contracts';
import { PolicySetError, putPolicySet, readPolicySet, replayPolicySet, type PolicySet } from '@jetloop/hook-policy';
import { BlobStore, Bus, PolicyStore } from '@jetloop/messaging';
import { writeJson, type CommandIo } from '../command-io.js';
import { natsAddress } from '../embedded/nats-address.js';
import { withJournal } from '../embedded/with-journal.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkNatsUrl } from '../input/check-nats-url.js';
import { checkToken } from '../input/check-token.js';
import { loadPolicies } from '../input/load-policies.js';
import { loadPolicyOptions } from '../input/load-service-settings.js';
import { readText } from '../input/read-text.js';
import { decisionRow } from '../render/decision-row.js';
import { renderTable } from '../render/table.js';
import { UsageError } from '../usage-error.js';
import type { RemoteOptions } from './with-client.js';

type StoreOptions = Omit<RemoteOptions, 'tenant'>;

/** `jetloop policies put`: checks policy sets and stores them; they count at the next decision. */
export async function policiesPutCommand(
  files: readonly string[],
  options: StoreOptions,
  io: CommandIo,
): Promise<ExitCode> {
  // All of them are read before the first is stored.
  await loadPolicies(files);
  await withStore(await natsAddress(io, options.nats), async (store) => {
    for (const file of files) {
      const put = await putPolicySet(store, await readText(file, 'policy file'), file);
      if (options.json) writeJson(io, put);
      else io.out.write(`policy set ${put.name}: revision ${put.revision}${put.changed ? '' : ', unchanged'}\n`);
    }
  });
  return EXIT.completed;
}

/** `jetloop policies list`: the sets that count now. */
export async function policiesListCommand(options: StoreOptions, io: CommandIo): Promise<ExitCode> {
  const sets = await withStore(await natsAddress(io, options.nats), (store) =>
    Promise.resolve([...store.sets()].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  if (options.json) {
    for (const [name, { revision, value }] of sets) writeJson(io, { name, revision, set: value });
    return EXIT.completed;
  }
  const rows = sets.map(([name, { revision, value }]) => {
    const { tenants, agents, policies } = readPolicySetHeader(name, value);
    const seams = new Set(policies.flatMap((policy) => policy.seams));
    return [name, revision, tenants.join(', '), agents.join(', '), policies.length, [...seams].join(', ')];
  });
  renderTable({ columns: ['set', 'revision', 'tenants', 'agents', 'policies', 'seams'], rows }, io.out);
  return EXIT.completed;
}

/** `jetloop policies remove`: takes a set away, and with it all it did. */
export async function policiesRemoveCommand(name: string, options: StoreOptions, io: CommandIo): Promise<ExitCode> {
  await withStore(await natsAddress(io, options.nats), async (store) => {
    if (!store.sets().has(name)) throw new UsageError(missing(name, store));
    await store.remove(name);
  });
  if (options.json) writeJson(io, { name, removed: true });
  else io.out.write(`policy set ${name}: removed\n`);
  return EXIT.completed;
}

/** `jetloop policies test`: what a set would have decided in a recorded session, without any effect. */
export async function policiesTestCommand(
  given: string,
  session: string,
  options: RemoteOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  checkToken('session', session);
  const { plugins = [] } = await loadPolicyOptions(io);
  const address = options.nats === undefined ? undefined : checkNatsUrl(options.nats);
  await withJournal(io, address, async (natsUrl) => {
    const set = await setOf(given, natsUrl);
    const client = await JetloopClient.connect({ natsUrl, tenant, actor: 'cli' });
    const bus = await Bus.connect({ url: natsUrl, name: 'jetloop-policies' });
    try {
      const entries: SessionEntry[] = [];
      for await (const entry of client.events(session, { follow: false })) entries.push(entry);
      const blobs = new BlobStore(bus);
      const readBlob = ({ digest }: { digest: string }) => blobs.get(tenant, session, digest);
      const seams = await replayPolicySet(set, entries, { tenant, session, plugins, readBlob });
      if (options.json) for (const seam of seams) writeJson(io, seam);
      else
        renderTable(
          { columns: ['event', 'seam', 'about', 'decision', 'policy', 'why'], rows: seams.map(decisionRow) },
          io.out,
        );
    } finally {
      await bus.close();
      await client.close();
    }
  });
  return EXIT.completed;
}

/** A file where it looks like one, else the name of a stored set. */
async function setOf(given: string, natsUrl: string): Promise<PolicySet> {
  if (/[/\\]|\.(?:ya?ml|json)$/.test(given)) {
    const [set] = await loadPolicies([given]);
    if (set) return set;
  }
  return withStore(natsUrl, (store) => {
    const stored = store.sets().get(given);
    if (!stored) throw new UsageError(`${missing(given, store)} A file is named by its path: ./${given}.yaml`);
    try {
      return Promise.resolve(readPolicySet(stored.value, `policy set ${given}`));
    } catch (error) {
      if (error instanceof PolicySetError) throw new UsageError(error.message);
      throw error;
    }
  });
}

function missing(name: string, store: PolicyStore): string {
  return `There is no policy set ${name}: expected one of ${[...store.sets().keys()].sort().join(', ') || '(none)'}.`;
}

async function withStore<T>(natsUrl: string, work: (store: PolicyStore) => Promise<T>): Promise<T> {
  const bus = await Bus.connect({ url: natsUrl, name: 'jetloop-policies' });
  try {
    const store = await PolicyStore.open(bus);
    try {
      return await work(store);
    } finally {
      store.close();
    }
  } finally {
    await bus.close();
  }
}
