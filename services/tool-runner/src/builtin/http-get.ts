import { lookup as lookUp } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressGuard } from '@jetloop/platform';
import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const resolveHost: Resolve = async (host) =>
  (await lookUp(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

/**
 * Asks for a URL on a connection of its own. Its name is resolved once, every address must be allowed, and the connection goes
 * to the first of them, whatever the name says by then.
 * @throws ToolError `address_refused`, `unreachable`
 */
export async function httpGet(
  url: URL,
  { guard, resolve, signal }: { guard: AddressGuard; resolve: Resolve; signal: AbortSignal },
): Promise<IncomingMessage> {
  const address = await addressOf(url, guard, resolve);
  const family = isIP(address);
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
  const headers = { 'User-Agent': 'jetloop', Accept: '*/*', 'Accept-Encoding': 'identity', Connection: 'close' };
  return new Promise((fulfil, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, { method: 'GET', headers, agent: false, lookup, signal }, fulfil);
    request.once('error', (error) => {
      reject(new ToolError('unreachable', `${url.host} cannot be reached (${readThrown(error).code ?? error.name})`));
    });
    request.end();
  });
}

async function addressOf({ hostname }: URL, guard: AddressGuard, resolve: Resolve): Promise<string> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
  const [first] = addresses;
  if (first === undefined) throw new ToolError('unreachable', `${host} has no address`);
  if (!addresses.every((address) => guard.isAllowed(address)))
    throw new ToolError(
      'address_refused',
      `${host} lies at a private, local or metadata address, which is not allowed here`,
    );
  return first;
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    throw new ToolError('unreachable', `${host} cannot be resolved (${readThrown(error).code ?? 'unknown reason'})`);
  }
}
