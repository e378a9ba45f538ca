import 'reflect-metadata';
import {
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type LoggerService,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Bus } from '../connection/bus.js';
import { checkFaults } from '../fault/fault-point.js';
import { MessagingModule } from '../messaging.module.js';
import { checkTopology } from '../topology/apply-topology.js';
import { JetStreamStrategy, type JetStreamStrategyOptions } from './jetstream.strategy.js';

export interface CommandServiceOptions extends JetStreamStrategyOptions {
  /** The service's root module: its controller has the `@WorkHandler`. */
  readonly module: DynamicModule | Type<unknown>;
  readonly logger: LoggerService;
}

export interface RunningService {
  /** Ends work within the grace, releases the rest. A bus that was handed in stays open. */
  stop(): Promise<void>;
  /** What the service needs, by name, and whether it has it now. */
  readiness(): Readonly<Record<string, boolean>>;
}

@Module({})
class ServiceRoot {}

/** Starts a Nest microservice that consumes the commands of one service from JetStream. */
export async function startCommandService(options: CommandServiceOptions): Promise<RunningService> {
  const { bus, logger } = options;
  const strategy = new JetStreamStrategy(options);
  const app = await NestFactory.createMicroservice(rootOf(options), { strategy, logger, abortOnError: false });
  await app.listen();
  return { stop: () => app.close(), readiness: () => ({ nats: bus.isConnected, consumer: strategy.isAlive() }) };
}

/** Starts a Nest application that follows the journal on its own and takes no commands. */
export async function startFollowerService(
  options: Pick<CommandServiceOptions, 'bus' | 'module' | 'logger'>,
): Promise<RunningService & { readonly context: INestApplicationContext }> {
  const { bus, logger } = options;
  const context = await NestFactory.createApplicationContext(rootOf(options), { logger, abortOnError: false });
  return { context, stop: () => context.close(), readiness: () => ({ nats: bus.isConnected }) };
}

export interface OverNatsOptions {
  readonly url: string;
  readonly name: string;
  /** Milliseconds of the consumers' ack wait, as the topology was made with. */
  readonly ackWaitMs: number;
}

/**
 * Connects, checks the topology, runs `start` over the connection, and closes the connection after it.
 * @throws ServerUnreachableError, UnsupportedServerError, TopologyDriftError, FaultError
 */
export async function overNats<R extends RunningService>(
  { url, name, ackWaitMs }: OverNatsOptions,
  start: (bus: Bus) => Promise<R>,
): Promise<R> {
  checkFaults();
  const bus = await Bus.connect({ url, name });
  try {
    await checkTopology(bus, { ackWaitMs });
    const running = await start(bus);
    const stop = async () => {
      await running.stop();
      await bus.close();
    };
    return { ...running, stop };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

function rootOf({ bus, module }: Pick<CommandServiceOptions, 'bus' | 'module'>): DynamicModule {
  return { module: ServiceRoot, imports: [MessagingModule.forBus(bus), module] };
}
