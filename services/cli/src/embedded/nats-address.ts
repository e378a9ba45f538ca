import type { CommandIo } from '../command-io.js';
import { checkNatsUrl } from '../input/check-nats-url.js';
import { ServicesNotRunningError } from '../services-not-running-error.js';
import { findRunning } from './running-services.js';

/**
 * Where running services are reached: the address given, the one of NATS_URL, or the one of `jetloop up` in this folder.
 * @throws UsageError, ServicesNotRunningError
 */
export async function natsAddress(io: CommandIo, given: string | undefined): Promise<string> {
  const address = given ?? io.env['NATS_URL'];
  if (address !== undefined && address !== '') return checkNatsUrl(address);
  const running = await findRunning(io.folder, io.env);
  if (running) return running.natsUrl;
  throw new ServicesNotRunningError(
    `No services run for ${io.folder}. Start them with \`jetloop up\` in another terminal, in this folder, or name the NATS server of others with --nats or NATS_URL.`,
  );
}
