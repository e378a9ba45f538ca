import { startInfra } from '@jetloop/testing';
import type { CommandIo } from '../command-io.js';
import { Progress } from '../render/progress.js';
import { findData } from './find-data.js';
import { findRunning } from './running-services.js';

/**
 * Lends the address of a NATS server that has the journal: the one given, the one of NATS_URL, the one of `jetloop up` in the
 * current folder, or the folder's embedded one, started for as long as the work takes. Then no service runs: nothing goes on
 * by being looked at.
 */
export async function withJournal<T>(
  io: CommandIo,
  given: string | undefined,
  work: (natsUrl: string) => Promise<T>,
): Promise<T> {
  const address = given ?? io.env['NATS_URL'];
  if (address !== undefined && address !== '') return work(address);
  const running = await findRunning(io.folder, io.env);
  if (running) return work(running.natsUrl);
  const dataDir = await findData(io.folder, io.env);
  const progress = new Progress(io.err);
  progress.say('starting nats-server');
  try {
    const infra = await startInfra({ dataDir, need: { postgres: false }, onProgress: progress.say, env: io.env });
    try {
      progress.done();
      return await work(infra.natsUrl);
    } finally {
      await infra.stop();
    }
  } finally {
    progress.done();
  }
}
