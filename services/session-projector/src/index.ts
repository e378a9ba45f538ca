export { SessionProjectorModule } from './session-projector.module.js';
export type { SessionProjectorOptions } from './options.js';
export { ProjectorService } from './projector/projector.service.js';
export type { ProjectorCounts, ProjectorState } from './projector/projector-state.js';
export { ProjectorStoppedError, type StopCode } from './projector-stopped-error.js';
export { UnfolderService } from './unfolder/unfolder.service.js';
export type { UnfolderState } from './unfolder/unfolder.js';
