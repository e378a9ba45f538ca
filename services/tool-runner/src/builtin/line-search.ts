import picomatch from 'picomatch';
import { basename } from 'node:path';
import { createContext, Script } from 'node:vm';
import { binaryType } from '../tool/binary.js';
import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';
import type { ToolContext } from '../tool/tool.js';
import { errnoOf, WorkspaceError } from '../tool/workspace-error.js';
import { COLUMNS, type GrepFound, type GrepQuery, type Searcher } from './grep-query.js';
import { walk } from './walk.js';

const FILE_LIMIT = 8 * 1024 * 1024;
/** A backtracking expression can take for ever; the engine is stopped after this time on one file. */
const MATCH_MS = 500;
const MATCH = new Script('lines.flatMap((line, index) => (expression.test(line) ? [index] : []))');

/** Searches without ripgrep, for machines it has no binary for: JavaScript's expressions, hidden files left out, no .gitignore. */
export const lineSearch: Searcher = async (query, ctx) => {
  const expression = expressionOf(query);
  const isMatch = query.glob === undefined ? () => true : picomatch(query.glob, { dot: true, noextglob: true });
  const found: GrepFound = { lines: [], more: false };
  for await (const file of filesOf(query, ctx)) {
    if (!isMatch(query.glob?.includes('/') ? file : basename(file))) continue;
    const lines = await linesOf(file, ctx);
    const hits = lines === undefined ? [] : matches(expression, lines);
    for (const line of shownLines(query, file, lines ?? [], hits)) {
      found.more = found.lines.length >= query.limit;
      if (found.more) return found;
      found.lines.push(line);
    }
  }
  return found;
};

function expressionOf({ pattern, literal, ignoreCase }: GrepQuery): RegExp {
  try {
    return new RegExp(literal ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : pattern, ignoreCase ? 'iu' : 'u');
  } catch (error) {
    throw new ToolError('search_failed', readThrown(error).message);
  }
}

function matches(expression: RegExp, lines: string[]): number[] {
  try {
    return MATCH.runInContext(createContext({ expression, lines }), { timeout: MATCH_MS }) as number[];
  } catch {
    // The only thing that can fail here is the time limit.
    throw new ToolError(
      'search_failed',
      `The pattern takes longer than ${MATCH_MS} ms on one file; use a simpler one.`,
    );
  }
}

function shownLines({ mode, context }: GrepQuery, file: string, lines: string[], hits: number[]): string[] {
  if (hits.length === 0) return [];
  if (mode === 'files') return [file];
  if (mode === 'count') return [`${file}:${hits.length}`];
  const isHit = new Set(hits);
  const shown = new Set(hits.flatMap((hit) => Array.from({ length: 2 * context + 1 }, (_, i) => hit - context + i)));
  return [...shown]
    .filter((index) => index >= 0 && index < lines.length)
    .map((index) => `${file}:${index + 1}${isHit.has(index) ? ':' : '-'}${(lines[index] ?? '').slice(0, COLUMNS)}`);
}

async function* filesOf(query: GrepQuery, { workspace, signal }: ToolContext): AsyncGenerator<string> {
  const path = workspace.display(await workspace.resolve(query.path));
  try {
    for await (const file of walk(workspace, path, { skip: new Set(), signal }))
      if (query.includeIgnored || !file.split('/').some((name) => name.startsWith('.'))) yield file;
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'not_a_directory') throw error;
    yield path;
  }
}

async function linesOf(path: string, { workspace }: ToolContext): Promise<string[] | undefined> {
  const { handle, size } = await workspace.openFile(path);
  try {
    if (size > FILE_LIMIT) return undefined;
    const bytes = await handle.readFile();
    return binaryType(bytes) === undefined ? bytes.toString('utf8').replace(/\n$/, '').split('\n') : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    // A file that cannot be read does not spoil the search, as with ripgrep.
    return undefined;
  } finally {
    await handle.close();
  }
}
