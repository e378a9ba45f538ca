import type { LoggerService } from '@nestjs/common';
import { z } from 'zod';
import { commonConfig, loadConfig } from './config.js';
import { startHealthServer, type Readiness } from './health-server.js';
import { createLogger, nestLogger } from './logger.js';
import { ServiceMetrics } from './metrics.js';

/** A started service: how to end it, and whether it can work. */
export interface RunningProcess {
  stop(): Promise<void>;
  readiness(): Readiness;
}

/** Writes one line with fields. */
export interface EventLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface ServicePlatform {
  readonly logger: LoggerService;
  readonly log: EventLog;
  readonly metrics: ServiceMetrics;
}

type Config<S extends z.ZodRawShape> = z.output<z.ZodObject<S & typeof commonConfig>>;

/**
 * The life of a service process: reads its environment, starts it, serves its health where `JETLOOP_HTTP_PORT` is set, and
 * ends it on SIGTERM or SIGINT (exit code 0). Why it could not start is one line on standard error (exit code 1).
 * @param shape the service's own settings, beside the common ones
 */
export async function runService<S extends z.ZodRawShape>(
  service: string,
  shape: S,
  start: (config: Config<S>, platform: ServicePlatform) => Promise<RunningProcess>,
): Promise<void> {
  const logger = createLogger(service);
  try {
    const config = loadConfig(z.object({ ...commonConfig, ...shape }));
    const metrics = new ServiceMetrics(service);
    const running = await start(config, { logger: nestLogger(logger), log: logger, metrics });
    const { JETLOOP_HTTP_PORT: port, JETLOOP_HTTP_HOST: host } = loadConfig(z.object(commonConfig));
    const state = { stopping: false };
    const readiness = () => ({ ...running.readiness(), running: !state.stopping });
    const health =
      port === undefined ? undefined : await startHealthServer({ port, host, readiness, metrics: metrics.registry });
    const end = (signal: string) => {
      if (state.stopping) return;
      state.stopping = true;
      logger.info({ signal }, 'stopping');
      Promise.resolve(running.stop())
        .then(() => health?.stop())
        .then(
          () => process.exit(0),
          (error: unknown) => {
            logger.error(error instanceof Error ? error.message : String(error));
            process.exit(1);
          },
        );
    };
    process.on('SIGTERM', end).on('SIGINT', end);
    // Last: who waits for this line may end the process at once.
    logger.info(health ? { port: health.port } : {}, 'ready');
  } catch (error) {
    logger.fatal(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
