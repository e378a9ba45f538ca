import { AddressError, allowedAddresses, type AddressGuard, type Resolve } from '@jetloop/platform';
import { PolicyError } from '../../policy/policy-error.js';

/**
 * The addresses that a request may go to. One forbidden address among several refuses them all.
 * @throws PolicyError `unreachable`, `address_refused`, `insecure_address`
 */
export async function resolveAddresses(
  { hostname, protocol }: URL,
  resolve: Resolve,
  guard: AddressGuard,
): Promise<readonly string[]> {
  const addresses = await allowedAddresses(hostname, guard, resolve).catch((error: unknown) => {
    throw error instanceof AddressError ? policyErrorOf(error, hostname) : error;
  });
  if (protocol === 'http:' && !addresses.every((address) => guard.isListed(address))) {
    throw new PolicyError('insecure_address', `expected https for ${hostname}: http is for addresses that are listed`);
  }
  return addresses;
}

function policyErrorOf({ code, message, detail = '' }: AddressError, hostname: string): PolicyError {
  if (code === 'unreachable') return new PolicyError(code, message, detail);
  const text = `${hostname} is at ${detail}, a private, local or metadata address that JETLOOP_WEBHOOK_ADDRESSES does not list`;
  return new PolicyError(code, text);
}
