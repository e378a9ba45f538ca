import 'reflect-metadata';
import {
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type LoggerService,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule } from '../messaging.module.js';
import { JetStreamStrategy, type JetStreamStrategyOptions } from './jetstream.strategy.js';

export interface CommandServiceOptions extends JetStreamStrategyOptions {
  /** The service's root module: its controller has the `@WorkHandler`. */
  readonly module: DynamicModule | Type<unknown>;
  readonly logger: LoggerService;
}

export interface RunningService {
  /** Ends work within the grace, releases the rest. The bus stays open: it is the caller's. */
  stop(): Promise<void>;
  isAlive(): boolean;
}

@Module({})
class ServiceRoot {}

/** Starts a Nest microservice that consumes the commands of one service from JetStream. */
export async function startCommandService(options: CommandServiceOptions): Promise<RunningService> {
  const { bus, module, logger } = options;
  const strategy = new JetStreamStrategy(options);
  const root: DynamicModule = { module: ServiceRoot, imports: [MessagingModule.forBus(bus), module] };
  const app = await NestFactory.createMicroservice(root, { strategy, logger, abortOnError: false });
  await app.listen();
  return { stop: () => app.close(), isAlive: () => strategy.isAlive() };
}

/** Starts a Nest application that follows the journal on its own and takes no commands. */
export async function startFollowerService(
  options: Pick<CommandServiceOptions, 'bus' | 'module' | 'logger'>,
): Promise<{ readonly context: INestApplicationContext; stop(): Promise<void> }> {
  const { bus, module, logger } = options;
  const root: DynamicModule = { module: ServiceRoot, imports: [MessagingModule.forBus(bus), module] };
  const context = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  return { context, stop: () => context.close() };
}
