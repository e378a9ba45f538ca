import { foldProjection } from './fold.js';
import { turnsFold } from './turns.fold.js';

export const turnsProjection = foldProjection(turnsFold);
