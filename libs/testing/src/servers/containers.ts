import type { GenericContainer as Container, StartedTestContainer } from 'testcontainers';
import { type Environment, variable } from './environment.js';
import { InfraError } from './infra-error.js';
import type { StartedServer } from './infra.js';
import { natsConfigText } from './nats/nats-config.js';
import { errorMessage } from './error-facts.js';

const DEFAULT_NATS_IMAGE = 'nats:2.15';
const DEFAULT_POSTGRES_IMAGE = 'postgres:18';
const NATS_PORT = 4222;
const POSTGRES_PORT = 5432;
const POSTGRES_PASSWORD = 'jetloop';

/** Starts NATS from `$JETLOOP_NATS_IMAGE` (default: the official image). Its data ends with the container. */
export async function startNatsContainer(
  env: Environment,
  accounts: number,
  jetStream: readonly string[],
): Promise<StartedServer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const config = natsConfigText({
    host: '0.0.0.0',
    port: NATS_PORT,
    storeFolder: '/tmp/jetstream',
    accounts,
    jetStream,
  });
  const container = new GenericContainer(variable(env, 'JETLOOP_NATS_IMAGE') ?? DEFAULT_NATS_IMAGE)
    .withCopyContentToContainer([{ content: config, target: '/etc/jetloop-nats.conf' }])
    .withCommand(['--config', '/etc/jetloop-nats.conf'])
    .withExposedPorts(NATS_PORT)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/));
  return start(container, (started) => `nats://${started.getHost()}:${started.getMappedPort(NATS_PORT)}`);
}

/** Starts Postgres from `$JETLOOP_POSTGRES_IMAGE` (default: the official image). Its data ends with the container. */
export async function startPostgresContainer(env: Environment, flags: readonly string[]): Promise<StartedServer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = new GenericContainer(variable(env, 'JETLOOP_POSTGRES_IMAGE') ?? DEFAULT_POSTGRES_IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD })
    .withCommand(['postgres', ...flags])
    .withExposedPorts(POSTGRES_PORT)
    // The image starts the server once to set it up and a second time for good.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2));
  return start(container, (started) => {
    const address = `${started.getHost()}:${started.getMappedPort(POSTGRES_PORT)}`;
    return `postgres://postgres:${POSTGRES_PASSWORD}@${address}/postgres`;
  });
}

async function start(container: Container, urlOf: (started: StartedTestContainer) => string): Promise<StartedServer> {
  let started: StartedTestContainer;
  try {
    started = await container.start();
  } catch (cause) {
    const reason = errorMessage(cause);
    const remedy = 'Start a container runtime, or unset JETLOOP_INFRA to use embedded servers.';
    throw new InfraError(`JETLOOP_INFRA=containers, and a container does not start: ${reason}\n${remedy}`, { cause });
  }
  return {
    url: urlOf(started),
    stop: async () => {
      await started.stop();
    },
  };
}
