import type { Tool } from '../tool/tool.js';
import { bashTool } from './bash.tool.js';
import { editFileTool } from './edit-file.tool.js';
import { globTool } from './glob.tool.js';
import { grepTool } from './grep.tool.js';
import { listDirTool } from './list-dir.tool.js';
import { moveTool } from './move.tool.js';
import { multiEditTool } from './multi-edit.tool.js';
import { readFileTool } from './read-file.tool.js';
import { removeTool } from './remove.tool.js';
import { writeFileTool } from './write-file.tool.js';

/** The tools that come with the runner. */
export const builtinTools: readonly Tool[] = [
  readFileTool,
  writeFileTool,
  editFileTool,
  multiEditTool,
  listDirTool,
  globTool,
  grepTool,
  moveTool,
  removeTool,
  bashTool,
];
