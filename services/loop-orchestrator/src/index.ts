export { LoopOrchestratorModule } from './loop-orchestrator.module.js';
export type { OrchestratorOptions } from './options.js';
