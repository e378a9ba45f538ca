import { isAbsolute, join, relative, resolve } from 'node:path';
import { ResolveError } from './agent.resolver.js';

/**
 * The folder that a session works in: `<first root>/<tenant>/<session>`, or the one named, which must lie under a root.
 * By path alone: the runner, which has the folder, checks links again.
 * @throws ResolveError `invalid`
 */
export function resolveWorkspace(
  roots: readonly string[],
  tenant: string,
  session: string,
  named: string | undefined,
): string {
  const [first] = roots;
  if (first === undefined) throw new ResolveError('unavailable', 'No workspace root is configured.');
  if (named === undefined) return join(resolve(first), tenant, session);
  const path = resolve(first, named);
  if (named.includes('\0') || !roots.some((root) => contains(resolve(root), path))) {
    throw new ResolveError(
      'invalid',
      'The workspace lies outside the workspace roots: expected a folder under one of them.',
    );
  }
  return path;
}

function contains(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
