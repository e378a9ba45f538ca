import { allowedAddresses, fixedLookup, systemResolve, type AddressGuard, type Resolve } from '@jetloop/platform';
import { Agent, buildConnector, fetch } from 'undici';

/** `fetch` for requests whose body is text. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A fetch that goes to allowed addresses alone. Every connection, that of a redirect too, resolves its host once and goes to
 * what was checked. An answer may take as long as it takes: the limits of calls end it.
 */
export function guardedFetch(guard: AddressGuard, resolve: Resolve = systemResolve): GuardedFetch {
  const connect: buildConnector.connector = (options, callback) => {
    allowedAddresses(options.hostname, guard, resolve).then(
      (addresses) => {
        buildConnector({ lookup: fixedLookup(addresses) })(options, callback);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
  const dispatcher = new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
  return (url, { method = 'GET', headers, body, signal, redirect = 'follow' } = {}) => {
    if (typeof body !== 'string' && body !== undefined && body !== null)
      throw new TypeError('expected the body of the request to be text');
    return fetch(url, {
      ...{ method, headers: [...new Headers(headers)], body: body ?? null, redirect, dispatcher },
      ...(signal ? { signal } : {}),
    });
  };
}
