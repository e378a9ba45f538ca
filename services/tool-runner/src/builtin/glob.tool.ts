import picomatch from 'picomatch';
import { relative } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { ToolError } from '../tool/tool-error.js';
import { walk } from './walk.js';

const NAMES = new Set(['.git', 'node_modules']);

export const globTool = defineTool({
  name: 'glob',
  description:
    'Finds files of the workspace by a pattern such as "src/**/*.ts" (relative to path), sorted. ".git" and "node_modules" are passed over unless the pattern names them. Symbolic links are not followed.',
  input: z.object({
    pattern: z.string().min(1).max(500),
    path: z.string().default('.').describe('Folder to search, in the workspace'),
    limit: z.int().min(1).max(5000).default(500),
  }),
  readonly: true,
  async run({ pattern, path, limit }, { workspace, signal }) {
    const base = workspace.display(await workspace.resolve(path));
    const isMatch = matcherOf(pattern);
    const skip = new Set([...NAMES].filter((name) => !pattern.includes(name)));
    const found: string[] = [];
    for await (const file of walk(workspace, base, { skip, signal })) {
      if (!isMatch(relative(base, file))) continue;
      if (found.length === limit)
        return [...found, `[more than ${limit} files match; use a narrower pattern]`].join('\n');
      found.push(file);
    }
    return found.length === 0 ? '[no file matches]' : found.join('\n');
  },
});

/** A pattern becomes a backtracking expression: more wildcards than these could keep the process busy for minutes. */
function matcherOf(pattern: string): picomatch.Matcher {
  const parts = pattern.split('/');
  const globstars = parts.filter((part) => part.includes('**')).length;
  if (globstars > 4 || parts.some((part) => part.replaceAll('**', '').split('*').length > 4))
    throw new ToolError(
      'invalid_arguments',
      'Expected at most 4 "**" in the pattern and at most 3 "*" between two "/".',
    );
  return picomatch(pattern.replace(/^\.\//, ''), { dot: true, noextglob: true, nonegate: true });
}
