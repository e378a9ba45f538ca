import { JetloopClient } from '@jetloop/client';
import { actorOf } from '../actor.js';
import type { CommandIo } from '../command-io.js';
import { natsAddress } from '../embedded/nats-address.js';
import { checkToken } from '../input/check-token.js';

/** What every command takes that talks to running services. */
export interface RemoteOptions {
  readonly tenant: string;
  readonly nats?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Lends a client of running services. @throws UsageError, ServicesNotRunningError, ServerUnreachableError */
export async function withClient<T>(
  io: CommandIo,
  options: RemoteOptions,
  work: (client: JetloopClient) => Promise<T>,
): Promise<T> {
  const tenant = checkToken('--tenant', options.tenant);
  const natsUrl = await natsAddress(io, options.nats);
  const client = await JetloopClient.connect({ natsUrl, tenant, actor: actorOf(io.env) });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The options that another command needs to speak of the same session, for a hint. */
export function sameSession({ tenant, nats }: RemoteOptions): string {
  return `${tenant === 'local' ? '' : ` --tenant ${tenant}`}${nats === undefined ? '' : ` --nats ${nats}`}`;
}
