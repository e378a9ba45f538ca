import { isDeepStrictEqual } from 'node:util';
import { ApiError, type Bus } from '../connection/bus.js';
import { topologyOf, type TopologyOptions } from './topology.js';

const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;

/** A stream or consumer differs from what this build expects, in fields that we set. */
export class TopologyDriftError extends Error {
  override readonly name = 'TopologyDriftError';
}

type Config = Readonly<Record<string, unknown>>;

/** The server takes it when a stream is created, and refuses to change it. */
const AT_CREATION = 'persist_mode';
/** How large and how safe the streams are is the operator's choice, and no drift. */
const SIZING: ReadonlySet<string> = new Set(['num_replicas', 'max_bytes', 'max_age', AT_CREATION]);

/** Creates what is missing and updates what differs. Idempotent; safe when several processes do it at once. */
export async function applyTopology(bus: Bus, options: TopologyOptions = {}): Promise<void> {
  const { streams, consumers } = topologyOf(options);
  await Promise.all(streams.map((stream) => applyStream(bus, stream)));
  await Promise.all(
    consumers.map(({ stream, name, config, filter }) =>
      bus.api(`CONSUMER.CREATE.${stream}.${name}.${filter}`, {
        stream_name: stream,
        config: { ...config, name },
      }),
    ),
  );
}

/**
 * Compares the fields that we set with what the server has.
 * @throws TopologyDriftError listing each difference, and what to do
 */
export async function checkTopology(bus: Bus, options: TopologyOptions = {}): Promise<void> {
  const { streams, consumers } = topologyOf(options);
  const ofStreams = streams.map(async (wanted) =>
    differences(`stream ${wanted.name}`, withoutSizing(wanted), await streamConfig(bus, wanted.name)),
  );
  const ofConsumers = consumers.map(async ({ stream, name, config }) => {
    const found = await orMissing(bus.api<{ config: Config }>(`CONSUMER.INFO.${stream}.${name}`));
    return differences(`consumer ${stream}/${name}`, config, found?.config);
  });
  const all = (await Promise.all([...ofStreams, ...ofConsumers])).flat();
  if (all.length > 0) {
    throw new TopologyDriftError(
      `The streams are not as this version expects (run \`jetloop topology apply\`):\n${all.join('\n')}`,
    );
  }
}

async function applyStream(bus: Bus, wanted: Config & { name: string }): Promise<void> {
  const found = await streamConfig(bus, wanted.name);
  if (!found) {
    await bus.api(`STREAM.CREATE.${wanted.name}`, wanted);
    return;
  }
  const config = { ...wanted, [AT_CREATION]: found[AT_CREATION] };
  if (differences(wanted.name, config, found).length > 0)
    await bus.api(`STREAM.UPDATE.${wanted.name}`, { ...found, ...config });
}

async function streamConfig(bus: Bus, name: string): Promise<Config | undefined> {
  return (await orMissing(bus.api<{ config: Config }>(`STREAM.INFO.${name}`)))?.config;
}

async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && (error.code === STREAM_NOT_FOUND || error.code === CONSUMER_NOT_FOUND))
      return undefined;
    throw error;
  }
}

function withoutSizing(config: Config): Config {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !SIZING.has(field)));
}

/** A field that the server leaves out has its zero value. */
function differences(owner: string, wanted: Config, found: Config | undefined): string[] {
  if (!found) return [`${owner}: missing`];
  return Object.entries(wanted).flatMap(([field, value]) => {
    const actual = found[field];
    if (isDeepStrictEqual(actual, value) || (actual === undefined && (value === 0 || value === false || value === -1)))
      return [];
    return [`${owner}: ${field} is ${JSON.stringify(actual)}, expected ${JSON.stringify(value)}`];
  });
}
