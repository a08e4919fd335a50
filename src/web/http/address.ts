import {
  type Cidr,
  inCidr,
  networkOf,
  parseCidr,
  readAddress,
} from "../../ground/kit/addresses.ts";

/** Decides whose request it is behind `--trusted-proxy` (contract §3). */
export interface ClientAddress {
  /**
   * The connection's address, or the right-most untrusted one of X-Forwarded-For where the peer is
   * trusted. An IPv6 address counts as its /64, which one subscriber has all of.
   */
  (peer: string, forwarded: string | undefined): string;
  /** Whether this peer is a proxy that speaks for others. */
  trusts(peer: string): boolean;
}

/** Throws RangeError naming a CIDR that is none. */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  const proxies = trusted.map(readCidr);
  const isTrusted = (address: string) => proxies.length > 0 && inCidr(address, ...proxies);
  const find = (peer: string, forwarded: string | undefined) => {
    if (!isTrusted(peer)) return networkOf(peer);
    let address = peer;
    const hops = (forwarded ?? "").split(",").map((hop) => hop.trim());
    while (isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined || readAddress(hop) === null) break;
      address = hop;
    }
    return networkOf(address);
  };
  return Object.assign(find, { trusts: isTrusted });
}

function readCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === null) throw new RangeError(`${text} is no network (like 10.0.0.0/8)`);
  return cidr;
}
