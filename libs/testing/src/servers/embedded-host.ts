import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reaper, startReaper } from './reaper.js';

/** What embedded servers share: the folder of their data, and the reaper that ends them when their owner dies. */
export interface EmbeddedHost {
  readonly folder: string;
  /** Whether the folder goes away at the end. */
  readonly temporary: boolean;
  readonly reaper: Reaper;
  /** After the servers have been stopped: removes temporary data and the reaper. */
  close(): Promise<void>;
}

export async function openEmbeddedHost(dataDir: string | undefined): Promise<EmbeddedHost> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'jetloop-')));
  await mkdir(folder, { recursive: true });
  // Postgres may run as another user, which must pass this folder but not list it.
  if (dataDir === undefined) await chmod(folder, 0o711);
  const reaper = await startReaper();
  const temporary = dataDir === undefined;
  if (temporary) reaper.removeLater(folder);
  return {
    folder,
    temporary,
    reaper,
    close: async () => {
      if (temporary) await rm(folder, { recursive: true, force: true });
      await reaper.dismiss();
    },
  };
}
