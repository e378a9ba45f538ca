import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, WorkspaceError } from './workspace-error.js';

const MAX_LINKS = 40;
const MAX_PATH = 4096;

export interface ResolveOptions {
  /** Follow a symbolic link in the last place; default true. False names the link itself (move, remove). */
  followLast?: boolean;
}

/**
 * Walks `path` as the kernel would, but never above the first of `roots`: every link is read and walked the same way, so the
 * result is an absolute path without links. What does not exist yet is walked by name only. `roots` are names of the same folder.
 */
export async function resolveInside(roots: [string, ...string[]], path: string, options: ResolveOptions = {}) {
  const outside = () => new WorkspaceError('outside_workspace', `${shown(path)}: leads out of the workspace`);
  if (path === '' || path.includes('\0') || path.length > MAX_PATH)
    throw new WorkspaceError('invalid_path', 'expected a path of 1 to 4096 characters without NUL');

  const [root] = roots;
  const start = stripRoot(roots, path);
  if (start === undefined) throw outside();
  const waiting = segments(start);
  let current = root;
  let links = 0;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (name === '.') continue;
    if (name === '..') {
      if (current === root) throw outside();
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const isLast = waiting.length === 0;
    const target = isLast && options.followLast === false ? undefined : await linkTarget(next, path);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    const inside = stripRoot(roots, target);
    if (inside === undefined || links > MAX_LINKS) throw outside();
    if (target.startsWith('/')) current = root;
    waiting.unshift(...segments(inside));
  }
  return current;
}

const segments = (path: string) => path.split('/').filter((name) => name !== '');

/** The part of an absolute path below the root, a relative path as it is, undefined for an absolute path elsewhere. */
function stripRoot(roots: string[], path: string): string | undefined {
  if (!path.startsWith('/')) return path;
  const clean = path.replace(/^\/+/, '/');
  for (const root of roots) {
    if (clean === root) return '';
    const prefix = root.endsWith('/') ? root : `${root}/`;
    if (clean.startsWith(prefix)) return clean.slice(prefix.length);
  }
  return undefined;
}

async function linkTarget(file: string, path: string): Promise<string | undefined> {
  try {
    return (await lstat(file)).isSymbolicLink() ? await readlink(file) : undefined;
  } catch (error) {
    // A file that is yet to be made has no link to follow.
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw WorkspaceError.from(error, shown(path));
  }
}

/** An absolute path was the caller's own word, but its repetition may tell of the host: only its last part is shown. */
export const shown = (path: string) => (path.startsWith('/') ? `…/${segments(path).at(-1) ?? ''}` : path);
