import { isIP } from 'node:net';
import { PolicyError } from '../../policy/policy-error.js';
import { errorCode } from '../error-code.js';
import type { AddressGuard } from '@jetloop/platform';

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * The one address that a request goes to. One forbidden address among several refuses them all.
 * @throws PolicyError `unreachable`, `address_refused`
 */
export async function resolveAddress(
  { hostname, protocol }: URL,
  resolve: Resolve,
  guard: AddressGuard,
): Promise<string> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) ? [host] : await lookUp(host, resolve);
  const [first] = addresses;
  if (first === undefined) throw new PolicyError('unreachable', `${host} has no address`);
  const refused = addresses.find((address) => !guard.isAllowed(address));
  if (refused !== undefined) {
    const text = `${host} is at ${refused}, a private, local or metadata address that JETLOOP_WEBHOOK_ADDRESSES does not list`;
    throw new PolicyError('address_refused', text);
  }
  if (protocol === 'http:' && !addresses.every((address) => guard.isListed(address))) {
    throw new PolicyError('insecure_address', `expected https for ${host}: http is for addresses that are listed`);
  }
  return first;
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const why = errorCode(error);
    throw new PolicyError('unreachable', `${host} cannot be resolved (${why})`, why);
  }
}
