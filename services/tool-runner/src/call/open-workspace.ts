import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { ToolError } from '../tool/tool-error.js';
import { Workspace } from '../tool/workspace.js';

/**
 * Opens a session's folder, which must really lie under one of the roots, links followed. The session's own default
 * folder is made when it is not there yet.
 * @throws ToolError `workspace_unavailable`
 */
export async function openWorkspace(
  roots: readonly string[],
  { tenant, session, workspace }: { readonly tenant: string; readonly session: string; readonly workspace: string },
): Promise<Workspace> {
  const own = roots.some((root) => join(resolve(root), tenant, session) === workspace);
  if (own) await mkdir(workspace, { recursive: true });
  const path = await realpath(workspace).catch(() => undefined);
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  const inside = path !== undefined && realRoots.some((root) => root !== undefined && contains(root, path));
  if (!inside)
    throw new ToolError(
      'workspace_unavailable',
      "The session's workspace does not exist on this runner, or lies outside its roots.",
    );
  return Workspace.open(path);
}

function contains(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
