import { BlockList, isIP } from "node:net";

/** Decides whose request it is behind `--trusted-proxy` (decisions §3). */
export interface ClientAddress {
  /** The connection's address, or the right-most untrusted one of X-Forwarded-For where the peer is trusted. */
  (peer: string, forwarded: string | undefined): string;
}

/** Throws RangeError naming a CIDR that is none. */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return (peer) => plain(peer);
  const list = new BlockList();
  for (const cidr of trusted) addCidr(list, cidr);
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return (peer, forwarded) => {
    let address = plain(peer);
    const hops = (forwarded ?? "").split(",").map((hop) => plain(hop.trim()));
    while (isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined || isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}

function addCidr(list: BlockList, cidr: string): void {
  const [address = "", bits] = cidr.split("/");
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : Number(bits);
  if (family === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > most)
    throw new RangeError(`${cidr} is no network (like 10.0.0.0/8)`);
  list.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
}

/** An IPv4 address that arrives on a dual-stack socket is written as IPv4. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
