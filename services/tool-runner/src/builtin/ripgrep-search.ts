import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../tool/tool-error.js';
import { WorkspaceError } from '../tool/workspace-error.js';
import { childEnv } from './child-env.js';
import { COLUMNS, type GrepFound, type GrepQuery, type Searcher } from './grep-query.js';
import { runProcess } from './run-process.js';

const STDERR_LIMIT = 4096;

/** Searches with the ripgrep binary at `rgPath`: its expressions are linear in time, so no pattern can hang the runner. */
export function ripgrepSearch(rgPath: string): Searcher {
  return async (query, { workspace, signal }) => {
    const real = await workspace.resolve(query.path);
    const isFolder = await isDirectory(real, query.path);
    const folder = isFolder ? real : dirname(real);
    const target = isFolder ? '.' : `./${basename(real)}`;
    const base = workspace.display(folder);
    const found: GrepFound = { lines: [], more: false };
    let rest = '';
    let complaint = '';
    const take = (line: string) => {
      if (found.lines.length >= query.limit) found.more = true;
      else found.lines.push(placed(line, base, query));
      return !found.more;
    };
    const end = await workspace.withDirectory(base, {}, ({ path }) =>
      runProcess({
        file: rgPath,
        args: [...argumentsOf(query), '--', target],
        cwd: path,
        env: childEnv(process.env),
        signal,
        graceMs: 500,
        onOutput(chunk, from) {
          if (from === 'stderr') {
            complaint = `${complaint}${chunk.toString()}`.slice(0, STDERR_LIMIT);
            return Promise.resolve(true);
          }
          const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
          rest = lines.pop() ?? '';
          return Promise.resolve(lines.every(take));
        },
      }),
    );
    signal.throwIfAborted();
    if (rest !== '' && !found.more) take(rest);
    if (end.exitCode === 2 && found.lines.length === 0) throw new ToolError('search_failed', complaint.trim());
    return found;
  };
}

async function isDirectory(real: string, path: string): Promise<boolean> {
  try {
    return (await stat(real)).isDirectory();
  } catch (error) {
    throw WorkspaceError.from(error, path);
  }
}

function argumentsOf(query: GrepQuery): string[] {
  const { mode, context } = query;
  return [
    ...['--no-config', '--no-messages', '--color=never', '--sort=path', '--no-ignore-parent', '--no-ignore-global'],
    ...['--no-require-git', '--with-filename', `--max-columns=${COLUMNS}`, '--max-columns-preview'],
    ...(mode === 'content' ? ['--line-number', '--no-heading', '--null'] : []),
    ...(mode === 'files' ? ['--files-with-matches'] : []),
    ...(mode === 'count' ? ['--count', '--null'] : []),
    ...(mode === 'content' && context > 0 ? [`--context=${context}`] : []),
    ...(query.literal ? ['--fixed-strings'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : []),
    ...(query.includeIgnored ? ['--no-ignore', '--hidden'] : []),
    ...(query.glob === undefined ? [] : [`--glob=${query.glob}`]),
    `--regexp=${query.pattern}`,
  ];
}

/** A line of ripgrep's ("./path NUL number:text") with the path from the workspace's root. Lines come byte for character. */
function placed(line: string, base: string, { mode }: GrepQuery): string {
  const text = Buffer.from(line, 'latin1').toString('utf8');
  if (mode === 'files') return join(base, text);
  const nul = text.indexOf('\0');
  if (nul === -1) return text === '--' ? text : join(base, text);
  return `${join(base, text.slice(0, nul))}:${text.slice(nul + 1)}`;
}
