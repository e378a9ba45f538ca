import { mkdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { ToolError } from '../tool/tool-error.js';
import { Workspace } from '../tool/workspace.js';

interface Place {
  readonly tenant: string;
  readonly session: string;
  readonly workspace: string;
}

interface Known {
  readonly workspace: Workspace;
  /** Which folder it was: another one under the same path is checked anew. */
  readonly identity: string;
}

/** Folders that are remembered; the one that was opened first goes first. */
const MAX_KNOWN = 4_000;

/**
 * Opens sessions' folders, which must really lie under one of the roots, links followed. A session's own default folder is
 * made when it is not there yet. A root is resolved once; a folder that was opened before costs one look.
 */
export class Workspaces {
  readonly #realRoots = new Map<string, string>();
  readonly #known = new Map<string, Known>();

  constructor(private readonly roots: readonly string[]) {}

  /** @throws ToolError `workspace_unavailable` */
  async open(place: Place): Promise<Workspace> {
    const { workspace: path } = place;
    const identity = await identityOf(path);
    const known = this.#known.get(path);
    if (known && known.identity === identity) return known.workspace;
    const workspace = await this.#check(place);
    this.#remember(path, { workspace, identity: identity ?? (await identityOf(path)) ?? '' });
    return workspace;
  }

  async #check({ tenant, session, workspace }: Place): Promise<Workspace> {
    const isOwn = this.roots.some((root) => join(resolve(root), tenant, session) === workspace);
    if (isOwn) await mkdir(workspace, { recursive: true });
    const path = await realpath(workspace).catch(() => undefined);
    const realRoots = await Promise.all(this.roots.map((root) => this.#realRoot(root)));
    const isInside = path !== undefined && realRoots.some((root) => root !== undefined && contains(root, path));
    if (!isInside)
      throw new ToolError(
        'workspace_unavailable',
        "The session's workspace does not exist on this runner, or lies outside its roots.",
      );
    return Workspace.open(path);
  }

  /** Undefined for a root that is not there: it may come later. */
  async #realRoot(root: string): Promise<string | undefined> {
    const real = this.#realRoots.get(root) ?? (await realpath(root).catch(() => undefined));
    if (real !== undefined) this.#realRoots.set(root, real);
    return real;
  }

  #remember(path: string, known: Known): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MAX_KNOWN) this.#known.delete(oldest);
    this.#known.set(path, known);
  }
}

/** Undefined where there is nothing, or nothing that may be seen. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}.${found.ino}`;
}

function contains(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
