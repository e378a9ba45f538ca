export { commonConfig, ConfigError, loadConfig } from './config.js';
export { startHealthServer } from './health-server.js';
export type { HealthServerOptions, Readiness } from './health-server.js';
export { createLogger, nestLogger } from './logger.js';
export { ServiceMetrics } from './metrics.js';
export type { CommandOutcome } from './metrics.js';
export { signalGroup, untilGroupGone } from './process-group.js';
export { runService } from './run-service.js';
export type { EventLog, RunningProcess, ServicePlatform } from './run-service.js';
