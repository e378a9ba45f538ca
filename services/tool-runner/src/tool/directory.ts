import { readlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

const hasProc = process.platform === 'linux';

/** An open folder. `entry` gives names that stay in this very folder, even if someone swaps the path to it meanwhile (on Linux). */
export interface Directory {
  /** A path to the folder itself, valid while it is open; also as the working directory of a child process. */
  readonly path: string;
  entry(name: string): string;
}

/** `handle` is the open folder, `real` its path for systems where an open folder has no path of its own. */
export function directoryOf(handle: FileHandle, real: string): Directory {
  const path = hasProc ? `/proc/self/fd/${handle.fd}` : real;
  return { path, entry: (name) => `${path}/${name}` };
}

/** The real, link-free path of what was opened, by the kernel's word; undefined where the system does not tell. */
export function openedPath(handle: FileHandle): string | undefined {
  // No disk is touched: the answer comes from the kernel's own table.
  return hasProc ? readlinkSync(`/proc/self/fd/${handle.fd}`) : undefined;
}
