import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Public by its range, and yet a cloud's metadata service. */
const METADATA = new Set(['168.63.129.16']);

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** Whether an operator listed it. */
  readonly isListed: (address: string) => boolean;
  /** Listed, or an ordinary public address: not private, local, reserved, or one that carries another inside. */
  readonly isAllowed: (address: string) => boolean;
}

/** @param listed addresses and ranges (`10.1.0.0/16`, `127.0.0.1`) that are allowed whatever they are. @throws RangeError */
export function addressGuard(listed: readonly string[]): AddressGuard {
  const ranges = listed.map(parseRange);
  const isListed = (text: string): boolean => {
    const address = parse(text);
    return address !== undefined && ranges.some((range) => isIn(address, range));
  };
  return {
    isListed,
    isAllowed: (text) => {
      const address = parse(text);
      if (!address) return false;
      return isListed(text) || (address.range() === 'unicast' && !METADATA.has(address.toString()));
    },
  };
}

/** An IPv4 address in the clothes of IPv6 counts as what it is. */
function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function parseRange(text: string): Range {
  const address = text.includes('/') ? undefined : parse(text);
  if (address) return [address, address.kind() === 'ipv4' ? 32 : 128];
  if (!ipaddr.isValidCIDR(text)) throw new RangeError(`"${text}": expected an address or a range such as 10.1.0.0/16`);
  return ipaddr.parseCIDR(text);
}

function isIn(address: Address, [base, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}
