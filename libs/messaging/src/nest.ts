// For services: apart from the rest, so that a program that only reads or sends does not load NestJS.
export { MessagingModule } from './messaging.module.js';
export { JetStreamStrategy } from './transport/jetstream.strategy.js';
export type { JetStreamStrategyOptions } from './transport/jetstream.strategy.js';
export { overNats, startCommandService, startFollowerService } from './transport/start-command-service.js';
export type { CommandServiceOptions, RunningService } from './transport/start-command-service.js';
export { WaitCheck, WorkHandler } from './transport/work-handler.js';
