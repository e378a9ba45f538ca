export { AcpBridgeModule } from './acp-bridge.module.js';
export type { AcpBridgeOptions } from './options.js';
export { serveAcpAgent, type ServeAcpAgentOptions } from './agent/serve-acp-agent.js';
