import { createBuiltinTools } from './builtin/index.js';
import type { ToolRunnerSettings } from './config.js';
import { ToolRegistry } from './tool/tool-registry.js';

/** The tools that a runner has by its settings. */
export function ownTools(settings: ToolRunnerSettings): ToolRegistry {
  const { modules, extraTools = [] } = settings;
  return new ToolRegistry([...createBuiltinTools(settings), ...(modules?.tools ?? []), ...extraTools]);
}
