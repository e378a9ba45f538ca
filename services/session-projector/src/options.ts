import type { ProjectorOptions } from './projector/projector.js';

/** What `SessionProjectorModule.register` takes. */
export type SessionProjectorOptions = ProjectorOptions;

/** Token of the options. */
export const SESSION_PROJECTOR_OPTIONS = Symbol('SESSION_PROJECTOR_OPTIONS');
