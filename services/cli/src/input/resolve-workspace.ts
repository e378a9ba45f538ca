import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { UsageError } from '../usage-error.js';

/**
 * The folder that an embedded agent works in: the root or a folder below it, symbolic links followed.
 * @param root the current folder, which is the runner's only root
 * @throws UsageError when there is no such folder, or it lies outside
 */
export async function resolveWorkspace(root: string, workspace: string): Promise<string> {
  const wanted = resolve(root, workspace);
  const found = await stat(wanted).catch(() => undefined); // not there, or not to be seen
  if (!found)
    throw new UsageError(`The workspace ${wanted} does not exist: create it, or name another with --workspace.`);
  if (!found.isDirectory())
    throw new UsageError(`The workspace ${wanted} is not a folder: name a folder with --workspace.`);
  const [realRoot, real] = await Promise.all([realpath(root), realpath(wanted)]);
  const path = relative(realRoot, real);
  if (path === '..' || path.startsWith(`..${sep}`)) {
    throw new UsageError(
      `The workspace ${real} lies outside the current folder ${realRoot}: an agent works only in the current folder or below. Change there first (cd ${real}).`,
    );
  }
  return real;
}
