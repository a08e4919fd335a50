import { BlockList, isIP } from "node:net";

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
  const list = new BlockList();
  for (const cidr of trusted) addCidr(list, cidr);
  const isTrusted = (address: string) =>
    trusted.length > 0 &&
    isIP(address) !== 0 &&
    list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  const find = (peer: string, forwarded: string | undefined) => {
    let address = plain(peer);
    if (!isTrusted(address)) return network(address);
    const hops = (forwarded ?? "").split(",").map((hop) => plain(hop.trim()));
    while (isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined || isIP(hop) === 0) break;
      address = hop;
    }
    return network(address);
  };
  return Object.assign(find, { trusts: (peer: string) => isTrusted(plain(peer)) });
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

/** `2001:db8:0:1::/64` for an IPv6 address; any other text as it is. */
function network(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  // An IPv4 address at the end stands for two groups.
  const written = front.length + back.length + (address.includes(".") ? 1 : 0);
  const groups = [...front, ...Array<string>(Math.max(0, 8 - written)).fill("0"), ...back];
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/64`;
}
