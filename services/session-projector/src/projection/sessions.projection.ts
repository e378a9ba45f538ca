import { foldProjection } from './fold.js';
import { sessionsFold } from './sessions.fold.js';

export const sessionsProjection = foldProjection(sessionsFold);
