import { posix } from 'node:path';

/**
 * Whether a path leads into a folder or is the folder. Both may be relative to the workspace; `.` and `..` are resolved, symbolic
 * links are not. Without a workspace an absolute path counts as inside when it holds the folder's names anywhere.
 */
export function isUnderPath(path: string, folder: string, workspace: string | undefined): boolean {
  const target = tidy(path);
  const wanted = tidy(folder);
  if (workspace === undefined && posix.isAbsolute(target) !== posix.isAbsolute(wanted)) {
    return `${posix.normalize(target)}/`.includes(`/${names(wanted)}/`);
  }
  const root = tidy(workspace ?? '/');
  const relative = posix.relative(posix.resolve(root, wanted), posix.resolve(root, target));
  return relative === '' || (relative !== '..' && !relative.startsWith('../'));
}

const tidy = (path: string): string => path.normalize('NFC').replace(/^file:\/\//, '');

const names = (path: string): string => posix.normalize(path).replace(/^\/+|\/+$/g, '');
