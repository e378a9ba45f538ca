import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkspaceError } from '../tool/workspace-error.js';
import type { Workspace } from '../tool/workspace.js';

export interface WalkOptions {
  /** Folders of these names are passed over. */
  skip: ReadonlySet<string>;
  signal: AbortSignal;
}

/** The files under a folder of the workspace, sorted folder by folder, as paths in the workspace. Links are never followed. */
export async function* walk(workspace: Workspace, path: string, options: WalkOptions): AsyncGenerator<string> {
  options.signal.throwIfAborted();
  const entries = await workspace.withDirectory(path, {}, ({ path: folder }) =>
    readdir(folder, { withFileTypes: true }),
  );
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = join(path, entry.name);
    if (entry.isFile()) yield child;
    if (entry.isDirectory() && !options.skip.has(entry.name)) yield* walkBelow(workspace, child, options);
  }
}

async function* walkBelow(workspace: Workspace, path: string, options: WalkOptions): AsyncGenerator<string> {
  try {
    yield* walk(workspace, path, options);
  } catch (error) {
    // A folder below that went away, or may not be read, does not spoil the rest.
    if (!(error instanceof WorkspaceError)) throw error;
  }
}
