import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger } from 'pino';

/** Lines of JSON on standard error, one an event, so that standard output stays a program's own. */
export function createLogger(service: string, level = process.env['LOG_LEVEL'] ?? 'info'): Logger {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ fd: 2, sync: true }),
  );
}

/** The same lines for what Nest itself says. Its start-up chatter is debug. */
export function nestLogger(logger: Logger): LoggerService {
  const text = (message: unknown) => (message instanceof Error ? message.message : String(message));
  const context = (rest: unknown[]) => ({ context: rest.at(-1) });
  return {
    log: (message: unknown, ...rest: unknown[]) => {
      logger.debug(context(rest), text(message));
    },
    warn: (message: unknown, ...rest: unknown[]) => {
      logger.warn(context(rest), text(message));
    },
    error: (message: unknown, ...rest: unknown[]) => {
      logger.error({ ...context(rest), stack: rest.length > 1 ? rest[0] : undefined }, text(message));
    },
    fatal: (message: unknown, ...rest: unknown[]) => {
      logger.fatal(context(rest), text(message));
    },
  };
}
