export { AcpBridgeModule } from './acp-bridge.module.js';
export type { AcpBridgeOptions } from './options.js';
