import type { ToolContext } from '../tool/tool.js';

export interface GrepQuery {
  pattern: string;
  path: string;
  glob?: string | undefined;
  mode: 'content' | 'files' | 'count';
  literal: boolean;
  ignoreCase: boolean;
  includeIgnored: boolean;
  context: number;
  limit: number;
}

export interface GrepFound {
  /** Lines of output, with paths as the workspace sees them. */
  lines: string[];
  /** There was more than the limit. */
  more: boolean;
}

export type Searcher = (query: GrepQuery, ctx: ToolContext) => Promise<GrepFound>;

/** Characters of one line that are shown. */
export const COLUMNS = 500;
