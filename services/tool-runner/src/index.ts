export { defineTool } from './tool/define-tool.js';
export type { Tool, ToolContext } from './tool/tool.js';
export type { ToolRunnerOptions } from './options.js';
export { ToolRunnerModule } from './tool-runner.module.js';
