import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { lineSearch } from './line-search.js';
import { ripgrepPath } from './ripgrep.js';
import { ripgrepSearch } from './ripgrep-search.js';

export const grepTool = defineTool({
  name: 'grep',
  description:
    'Searches the text files of the workspace for a regular expression (ripgrep), one "path:line:text" a line. Hidden and ignored files are left out unless includeIgnored is set.',
  input: z.object({
    pattern: z.string().min(1).max(2000),
    path: z.string().default('.').describe('File or folder to search, in the workspace'),
    glob: z.string().min(1).max(200).optional().describe('Only files of these names, such as "*.ts"'),
    mode: z
      .enum(['content', 'files', 'count'])
      .default('content')
      .describe('Lines, names of files, or matching lines per file'),
    literal: z.boolean().default(false).describe('The pattern is plain text'),
    ignoreCase: z.boolean().default(false),
    includeIgnored: z.boolean().default(false),
    context: z.int().min(0).max(20).default(0).describe('Lines shown before and after a match'),
    limit: z.int().min(1).max(2000).default(200).describe('Lines of output'),
  }),
  readonly: true,
  async run(query, ctx) {
    const ripgrep = await ripgrepPath();
    const search = ripgrep === undefined ? lineSearch : ripgrepSearch(ripgrep);
    const { lines, more } = await search(query, ctx);
    if (lines.length === 0) return '[nothing found]';
    return [...lines, ...(more ? [`[more than ${query.limit} lines; use a narrower pattern, path or glob]`] : [])].join(
      '\n',
    );
  },
});
