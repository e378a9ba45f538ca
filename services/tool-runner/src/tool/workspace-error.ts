import { readThrown } from './thrown.js';
import { ToolError } from './tool-error.js';

export type WorkspaceErrorCode =
  | 'outside_workspace'
  | 'not_found'
  | 'exists'
  | 'invalid_path'
  | 'is_a_directory'
  | 'not_a_directory'
  | 'not_a_file'
  | 'not_empty'
  | 'denied'
  | 'io_error';

/** A path that cannot be used. The message names the path as the workspace sees it, never as the host does. */
export class WorkspaceError extends ToolError {
  override readonly name = 'WorkspaceError';

  constructor(
    override readonly code: WorkspaceErrorCode,
    message: string,
  ) {
    super(code, message);
  }

  /** Turns a failed system call on `path` into words without the host's path; other errors pass unchanged. */
  static from(error: unknown, path: string): unknown {
    const errno = errnoOf(error);
    if (error instanceof ToolError || errno === undefined) return error;
    const [code, words] = MEANINGS[errno] ?? ['io_error', `the file system answered ${errno}`];
    return new WorkspaceError(code, `${path}: ${words}`);
  }
}

/** The system's name of the failure (`ENOENT`), if there is one. */
export function errnoOf(error: unknown): string | undefined {
  const { code, syscall } = readThrown(error);
  return syscall === undefined ? undefined : code;
}

const MEANINGS: Partial<Record<string, [WorkspaceErrorCode, string]>> = {
  ENOENT: ['not_found', 'no such file or directory'],
  EEXIST: ['exists', 'already exists'],
  EISDIR: ['is_a_directory', 'is a directory'],
  ENOTDIR: ['not_a_directory', 'a part of the path is not a directory'],
  ENOTEMPTY: ['not_empty', 'the directory is not empty'],
  EACCES: ['denied', 'permission denied'],
  EPERM: ['denied', 'permission denied'],
  EROFS: ['denied', 'the file system is read-only'],
  ENAMETOOLONG: ['invalid_path', 'the name is too long'],
  EINVAL: ['invalid_path', 'the path cannot be used that way'],
  ENXIO: ['not_a_file', 'is not a regular file'],
  // Paths are free of links when they are opened, so a link here was put there meanwhile.
  ELOOP: ['outside_workspace', 'a symbolic link took the place of the file'],
};
