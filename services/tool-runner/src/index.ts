export { openToolbox } from './toolbox.js';
export type { Toolbox, ToolboxOptions } from './toolbox.js';
export { defineTool } from './tool/define-tool.js';
export type { ToolDefinition } from './tool/define-tool.js';
export { loadToolModules, ToolModuleError } from './tool/load-tool-modules.js';
export { ToolError } from './tool/tool-error.js';
export type { Tool, ToolContext, ToolReturn } from './tool/tool.js';
export type { ToolRunnerOptions } from './options.js';
export { ToolRunnerModule } from './tool-runner.module.js';
