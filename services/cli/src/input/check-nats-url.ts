import { UsageError } from '../usage-error.js';

/** Checks the form of a NATS address. @throws UsageError */
export function checkNatsUrl(url: string): string {
  for (const one of url.split(',')) {
    const address = one.includes('://') ? one : `nats://${one}`;
    if (URL.canParse(address) && new URL(address).hostname !== '') continue;
    throw new UsageError(`--nats ${JSON.stringify(one)} is no address: expected nats://[user:password@]host:port`);
  }
  return url;
}
