import { lookup as lookUp } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressGuard } from './address-guard.js';

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The machine's own resolver. */
export const systemResolve: Resolve = async (host) =>
  (await lookUp(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

/** A host may not be connected to (`address_refused`), or has no address (`unreachable`). */
export class AddressError extends Error {
  override readonly name = 'AddressError';

  constructor(
    readonly code: 'address_refused' | 'unreachable',
    message: string,
    /** The address that is not allowed, or the resolver's own code (`ENOTFOUND`). */
    readonly detail?: string,
  ) {
    super(message);
  }
}

/**
 * The addresses of a host, resolved once. One forbidden address among several refuses them all.
 * @param hostname as in a URL: an IPv6 address may stand in brackets
 * @throws AddressError
 */
export async function allowedAddresses(
  hostname: string,
  guard: AddressGuard,
  resolve: Resolve = systemResolve,
): Promise<readonly string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
  if (addresses.length === 0) throw new AddressError('unreachable', `${host} has no address`);
  const refused = addresses.find((address) => !guard.isAllowed(address));
  if (refused === undefined) return addresses;
  const message = `${host} lies at a private, local or metadata address, which is not allowed here`;
  throw new AddressError('address_refused', message, refused);
}

/** A lookup that answers with addresses that were checked, whatever the name says by then. */
export function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    const [first] = found;
    if (all === true) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const why = codeOf(error);
    throw new AddressError('unreachable', `${host} cannot be resolved (${why})`, why);
  }
}

function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
