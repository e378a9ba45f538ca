export type { PlannedResponse, ResponseStep } from './provider/planned-response.js';
export { startReplayServer } from './provider/start-replay-server.js';
export type { ReplayedRequest, ReplayOptions, ReplayServer } from './provider/start-replay-server.js';
export { startTestRun, type TestRun } from './run/start-test-run.js';
export { testServers, type TestServers } from './run/test-servers.js';
export type { Infra, InfraOptions, ServerOrigin } from './servers/infra.js';
export { InfraError } from './servers/infra-error.js';
export { inspectServers, type ServerInspection, type ServersInspection } from './servers/inspect-servers.js';
export { startInfra } from './servers/start-infra.js';
