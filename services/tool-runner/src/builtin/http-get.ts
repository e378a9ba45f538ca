import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { AddressError, allowedAddresses, fixedLookup, type AddressGuard, type Resolve } from '@jetloop/platform';
import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';

/**
 * Asks for a URL on a connection of its own. Its name is resolved once, every address must be allowed, and the connection goes
 * to one of them, whatever the name says by then.
 * @throws ToolError `address_refused`, `unreachable`
 */
export async function httpGet(
  url: URL,
  { guard, resolve, signal }: { guard: AddressGuard; resolve: Resolve; signal: AbortSignal },
): Promise<IncomingMessage> {
  const lookup = fixedLookup(await addressesOf(url, guard, resolve));
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

async function addressesOf({ hostname }: URL, guard: AddressGuard, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await allowedAddresses(hostname, guard, resolve);
  } catch (error) {
    throw error instanceof AddressError ? new ToolError(error.code, error.message) : error;
  }
}
