import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { transport } from './harness-failure.js';

interface Place {
  readonly tenant: string;
  readonly session: string;
  readonly workspace: string;
}

/**
 * The folder that an agent works in: its session's workspace, which lies under one of the roots (links followed; the
 * session's own is made when it is not there yet), or what its spec names in it.
 * @throws HarnessFailure
 */
export async function openFolder(
  roots: readonly string[],
  { tenant, session, workspace }: Place,
  cwd: string | undefined,
): Promise<string> {
  const isOwn = roots.some((root) => join(resolve(root), tenant, session) === workspace);
  if (isOwn) await mkdir(workspace, { recursive: true });
  // What cannot be resolved is not there: the answer below says so.
  const real = (path: string) => realpath(path).catch(() => undefined);
  const path = await real(workspace);
  const realRoots = await Promise.all(roots.map(real));
  if (path === undefined || !realRoots.some((root) => root !== undefined && contains(root, path)))
    throw transport('workspace_unavailable', "The session's workspace does not exist here, or lies outside the roots.");
  if (cwd === undefined) return path;
  const folder = await real(resolve(path, cwd));
  if (folder === undefined) throw transport('spawn', `The folder ${cwd} that the harness names does not exist.`);
  return folder;
}

function contains(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
