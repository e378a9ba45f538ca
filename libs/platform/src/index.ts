export { commonConfig, ConfigError, loadConfig } from './config.js';
export { createLogger, nestLogger } from './logger.js';
export { runMain } from './run-main.js';
export type { Stoppable } from './run-main.js';
export type { Logger } from 'pino';
