import type { Tool } from '../tool/tool.js';
import { bashTool, createBashTool, type BashOptions } from './bash.tool.js';
import { addressGuard } from '@jetloop/platform';
import { editFileTool } from './edit-file.tool.js';
import { globTool } from './glob.tool.js';
import { grepTool } from './grep.tool.js';
import { createHttpFetchTool } from './http-fetch.tool.js';
import { listDirTool } from './list-dir.tool.js';
import { moveTool } from './move.tool.js';
import { multiEditTool } from './multi-edit.tool.js';
import { readFileTool } from './read-file.tool.js';
import { removeTool } from './remove.tool.js';
import { writeFileTool } from './write-file.tool.js';

export interface BuiltinOptions extends BashOptions {
  /** Set: there is `http_fetch`, and these private addresses and ranges may be reached too. */
  readonly httpFetch?: { readonly addresses: readonly string[] };
}

/** The tools that come with the runner, as it is configured. */
export function createBuiltinTools({ httpFetch, ...bash }: BuiltinOptions): Tool[] {
  const others = builtinTools.filter((tool) => tool !== bashTool);
  const fetching = httpFetch === undefined ? [] : [createHttpFetchTool(addressGuard(httpFetch.addresses))];
  return [...others, createBashTool(bash), ...fetching];
}

/** The tools that need no configuration. */
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
