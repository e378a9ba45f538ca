import { constants } from 'node:fs';
import { mkdir, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve as absolute } from 'node:path';
import { directoryOf, openedPath, type Directory } from './directory.js';
import { resolveInside, shown, type ResolveOptions } from './resolve-path.js';
import { errnoOf, WorkspaceError } from './workspace-error.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** O_NONBLOCK: opening a pipe would wait for a writer, perhaps for ever. */
const READ_FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

export interface OpenedFile {
  readonly handle: FileHandle;
  /** Bytes, when it was opened. */
  readonly size: number;
}

/**
 * The jail of a session's files. What is opened is looked at once it is open, so that a link put in place at the last moment is refused
 * as well. Where the system does not tell what an open file is (not Linux), folders are opened one by one without following links.
 */
export class Workspace {
  readonly #roots: [string, ...string[]];

  private constructor(
    /** The real path of the folder. */
    readonly root: string,
    /** The path that it was opened by. */
    readonly alias: string,
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

  /** One that was opened before, in another thread too. */
  static opened({ root, alias }: Pick<Workspace, 'root' | 'alias'>): Workspace {
    return new Workspace(root, alias);
  }

  /** The real, link-free host path for a path of the model's, which may not exist yet. */
  async resolve(path: string, options: ResolveOptions = {}): Promise<string> {
    return (await this.#resolveExisting(path, options)) ?? resolveInside(this.#roots, path, options);
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

  /** Opens a regular file for reading, and tells its size in bytes. The caller closes it. */
  async openFile(path: string): Promise<OpenedFile> {
    const handle = (await this.#openDirectly(path)) ?? (await this.#openStepwise(path));
    const found = await handle.stat();
    if (found.isFile()) return { handle, size: found.size };
    await handle.close();
    const code = found.isDirectory() ? 'is_a_directory' : 'not_a_file';
    throw new WorkspaceError(
      code,
      `${shown(path)}: expected a file, found ${found.isDirectory() ? 'a directory' : 'something else'}`,
    );
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

  /** In one go, and then a look at what was opened. Undefined: the path has to be walked, which also finds the words for what is wrong. */
  async #openDirectly(path: string): Promise<FileHandle | undefined> {
    if (!isPlain(path)) return undefined;
    const handle = await openOrNothing(join(this.root, path), READ_FILE);
    if (!handle) return undefined;
    const real = openedPath(handle);
    if (real !== undefined && this.#contains(real)) return handle;
    await handle.close();
    return undefined;
  }

  #openStepwise(path: string): Promise<FileHandle> {
    return this.withParent(path, {}, (directory, name) => open(directory.entry(name), READ_FILE));
  }

  async #resolveExisting(path: string, { followLast = true }: ResolveOptions): Promise<string | undefined> {
    if (!isPlain(path) || (!followLast && basename(path) === '.')) return undefined;
    const host = join(this.root, path);
    const real = await realpath(followLast ? host : dirname(host)).catch(() => undefined);
    if (real === undefined || !this.#contains(real)) return undefined;
    return followLast ? real : join(real, basename(host));
  }

  #contains(real: string): boolean {
    return real === this.root || real.startsWith(this.root === '/' ? '/' : `${this.root}/`);
  }

  async #within<T>(real: string, path: string, create: boolean, use: (directory: Directory) => Promise<T>): Promise<T> {
    let handle: FileHandle | undefined;
    try {
      handle = (await openAsChecked(real)) ?? (await this.#walk(real, create));
      return await use(directoryOf(handle, real));
    } catch (error) {
      throw WorkspaceError.from(error, shown(path));
    } finally {
      await handle?.close();
    }
  }

  /** From the root, folder by folder and without following links. */
  async #walk(real: string, create: boolean): Promise<FileHandle> {
    let handle = await open(this.root, O_RDONLY | O_DIRECTORY);
    try {
      let at = this.root;
      for (const name of relative(this.root, real).split('/').filter(Boolean)) {
        const next = await openFolder(directoryOf(handle, at).entry(name), create);
        at = join(at, name);
        await handle.close();
        handle = next;
      }
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/** A path that can be handed to the kernel as it is: it can only leave the workspace by a link, which shows afterwards. */
function isPlain(path: string): boolean {
  return path !== '' && path.length <= 4096 && !/^\/|\0|(?:^|\/)\.\.(?:\/|$)/.test(path);
}

/** Undefined for whatever fails: the walk that follows says what it was. */
function openOrNothing(path: string, flags: number): Promise<FileHandle | undefined> {
  return open(path, flags).catch(() => undefined);
}

/** A folder whose path had no links when it was checked; undefined where the path leads elsewhere by now. */
async function openAsChecked(real: string): Promise<FileHandle | undefined> {
  const handle = await openOrNothing(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (handle && openedPath(handle) === real) return handle;
  await handle?.close();
  return undefined;
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
