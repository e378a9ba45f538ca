import { foldProjection } from './fold.js';
import { toolCallsFold } from './tool-calls.fold.js';

export const toolCallsProjection = foldProjection(toolCallsFold);
