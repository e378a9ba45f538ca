import type { Logger } from 'pino';
import { createLogger } from './logger.js';

/** What a service's start gives back: how to end it. */
export interface Stoppable {
  stop(): Promise<void>;
}

/**
 * The life of a service process: starts it, ends it on SIGTERM or SIGINT with exit code 0, and says on one line why it
 * could not start (exit code 1).
 */
export async function runMain(service: string, start: (logger: Logger) => Promise<Stoppable>): Promise<void> {
  const logger = createLogger(service);
  let running: Stoppable;
  try {
    running = await start(logger);
  } catch (error) {
    logger.fatal(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
    return;
  }
  logger.info('ready');
  const end = (signal: string) => {
    logger.info({ signal }, 'stopping');
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error(error instanceof Error ? error.message : String(error));
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', end).once('SIGINT', end);
}
