import { constants } from 'node:fs';
import { mkdir, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve as absolute } from 'node:path';
import { directoryOf, type Directory } from './directory.js';
import { resolveInside, shown, type ResolveOptions } from './resolve-path.js';
import { errnoOf, WorkspaceError } from './workspace-error.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * The jail of a session's files. `resolve` refuses what leads out; opening walks from the root once more, folder by folder and without
 * following links, so that a link put in place after the check is refused as well (on Linux; elsewhere the second walk goes by path).
 */
export class Workspace {
  readonly #roots: [string, ...string[]];

  private constructor(
    /** The real path of the folder. */
    readonly root: string,
    alias: string,
  ) {
    this.#roots = [root, alias];
  }

  static async open(root: string): Promise<Workspace> {
    try {
      const real = await realpath(root);
      if (!(await stat(real)).isDirectory())
        throw new WorkspaceError('not_a_directory', 'the workspace is not a directory');
      return new Workspace(real, absolute(root));
    } catch (error) {
      throw WorkspaceError.from(error, 'the workspace');
    }
  }

  /** The real, link-free host path for a path of the model's, which may not exist yet. */
  resolve(path: string, options?: ResolveOptions): Promise<string> {
    return resolveInside(this.#roots, path, options);
  }

  /** A host path as the workspace sees it; the root is `.`. */
  display(hostPath: string): string {
    return relative(this.root, hostPath) || '.';
  }

  /** Takes the host's paths out of a message. */
  scrub(text: string): string {
    return this.#roots
      .filter((root) => root !== '/')
      .reduce((clean, root) => clean.replaceAll(`${root}/`, '').replaceAll(root, '.'), text);
  }

  /** Opens a regular file for reading. The caller closes it. */
  async openFile(path: string): Promise<FileHandle> {
    return this.withParent(path, {}, async (directory, name) => {
      // O_NONBLOCK: opening a pipe would wait for a writer, perhaps for ever.
      const handle = await open(directory.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const found = await handle.stat();
      if (found.isFile()) return handle;
      await handle.close();
      const code = found.isDirectory() ? 'is_a_directory' : 'not_a_file';
      throw new WorkspaceError(
        code,
        `${shown(path)}: expected a file, found ${found.isDirectory() ? 'a directory' : 'something else'}`,
      );
    });
  }

  /** Runs `use` in the folder `path`; with `create`, missing folders are made. */
  async withDirectory<T>(
    path: string,
    options: { create?: boolean },
    use: (directory: Directory) => Promise<T>,
  ): Promise<T> {
    const real = await this.resolve(path);
    return this.#within(real, path, options.create ?? false, use);
  }

  /** Runs `use` in the folder that holds the entry `path`. */
  async withParent<T>(
    path: string,
    options: ResolveOptions & { create?: boolean },
    use: (directory: Directory, name: string) => Promise<T>,
  ): Promise<T> {
    const real = await this.resolve(path, options);
    if (real === this.root) throw new WorkspaceError('is_a_directory', `${shown(path)}: is the workspace itself`);
    return this.#within(dirname(real), path, options.create ?? false, (directory) => use(directory, basename(real)));
  }

  async #within<T>(real: string, path: string, create: boolean, use: (directory: Directory) => Promise<T>): Promise<T> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(this.root, O_RDONLY | O_DIRECTORY);
      let directory = directoryOf(handle, this.root);
      let at = this.root;
      for (const name of relative(this.root, real).split('/').filter(Boolean)) {
        at = join(at, name);
        const next = await openFolder(directory.entry(name), create);
        await handle.close();
        handle = next;
        directory = directoryOf(handle, at);
      }
      return await use(directory);
    } catch (error) {
      throw WorkspaceError.from(error, shown(path));
    } finally {
      await handle?.close();
    }
  }
}

async function openFolder(path: string, create: boolean): Promise<FileHandle> {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return await open(path, flags);
  } catch (error) {
    if (!create || errnoOf(error) !== 'ENOENT') throw error;
    // Another call may make the same folder at this moment: that is as good as our own.
    await mkdir(path).catch((failure: unknown) => {
      if (errnoOf(failure) !== 'EEXIST') throw failure;
    });
    return open(path, flags);
  }
}
