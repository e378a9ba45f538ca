import type { CommandIo } from '../command-io.js';
import { openDataDir } from '../embedded/data-dir.js';
import { Progress } from '../render/progress.js';
import type { RunPlan } from './run-plan.js';

/** Lends the address of services that can carry out the plan: running ones, or all of them in this process. */
export async function withServices<T>(
  io: CommandIo,
  plan: Pick<RunPlan, 'where'>,
  work: (natsUrl: string) => Promise<T>,
): Promise<T> {
  const { where } = plan;
  if (where.kind === 'running') return work(where.natsUrl);
  const progress = new Progress(io.err);
  progress.say('starting servers and services');
  await openDataDir(where.dataDir);
  // Only now: what is refused before needs no service, and answers at once.
  const { startStandalone } = await import('@jetloop/standalone');
  const standalone = await startStandalone({
    workspaceRoots: [where.root],
    catalogue: where.catalogue,
    policySets: where.policySets,
    ...where.settings,
    dataDir: where.dataDir,
    onProgress: progress.say,
    logLevel: io.env['LOG_LEVEL'] ?? 'error',
  }).finally(() => {
    progress.done();
  });
  try {
    return await work(standalone.natsUrl);
  } finally {
    await standalone.stop();
  }
}
