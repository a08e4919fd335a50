import { isIP } from "node:net";
import ip from "ipaddr.js";

/** Which addresses may be called (contract §6, Egress). Addresses are parsed, so no spelling gets past. */

/** What an address is for (IANA special-purpose registries, RFC 6890). */
type AddressClass =
  | "public"
  | "private"
  | "loopback"
  | "link_local"
  | "metadata"
  | "multicast"
  | "unspecified"
  | "broadcast"
  | "documentation"
  | "reserved";

/** Why an address may not be called. `denied`: the operator's list forbids it. */
type AddressRefusal = Exclude<AddressClass, "public"> | "denied" | "not_an_address";

type Address = ip.IPv4 | ip.IPv6;

/** A range of addresses: the first `bits` bits count. */
export interface Cidr {
  readonly address: Address;
  readonly bits: number;
}

/** The role that calls, and the operator's own lists. */
export interface AddressRules {
  /** A box may call loopback and private addresses, the hosted role may not. */
  readonly role: "box" | "hosted";
  readonly deny?: readonly Cidr[];
  readonly allow?: readonly Cidr[];
}

/**
 * Why `address` (a literal) may not be called; null when it may. Where the operator's lists hold the address, the
 * longest prefix decides, and deny wins a tie; otherwise the class decides. No list allows unspecified (it reaches
 * loopback), multicast or broadcast. An address that carries an IPv4 address (NAT64, 6to4, Teredo) must pass itself,
 * and so must each address it carries.
 */
export function addressRefusal(text: string, rules: AddressRules): AddressRefusal | null {
  const address = readAddress(text);
  if (address === null) return "not_an_address";
  for (const face of [address, ...carried(address)]) {
    const refusal = faceRefusal(face, rules);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The class of a literal address; null for other text. Addresses that it carries aren't looked at. */
export function addressClass(text: string): AddressClass | null {
  const address = readAddress(text);
  return address === null ? null : classOf(address);
}

/** Reads `10.0.0.0/8`, `fd00::/8` or one bare address; null for other text. */
export function parseCidr(text: string): Cidr | null {
  const [base = "", length, ...rest] = text.split("/");
  const address = rest.length > 0 || base.includes("%") ? null : readAddress(base);
  if (address === null) return null;
  const most = address.kind() === "ipv4" ? 32 : 128;
  if (length === undefined) return { address, bits: most };
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return null;
  // A prefix of IPv4-mapped addresses is the IPv4 prefix that it maps.
  const bits = Number(length) - (most === 32 && base.includes(":") ? 96 : 0);
  return bits >= 0 && bits <= most ? { address, bits } : null;
}

/** Whether a literal address lies in one of the ranges. An IPv4-mapped address counts as its IPv4 address. */
export function inCidr(text: string, ...cidrs: readonly Cidr[]): boolean {
  const address = readAddress(text);
  return address !== null && cidrs.some((cidr) => holds(cidr, address));
}

/**
 * Parses a literal address (no brackets; a zone is ignored). An IPv4-mapped one becomes the IPv4 address that is really
 * called. null for other text. Node decides what an address is, because the library also reads `127.1` and `0x7f.1`.
 */
export function readAddress(text: string): Address | null {
  if (isIP(text) === 0) return null;
  // The library reads `::10.0.0.1` as `::ffff:10.0.0.1`, which is another address.
  return ip.process(text.replace(/%.*$/, "").replace(/^::(?=\d+\.)/, "0:0:0:0:0:0:"));
}

/** The IPv4 addresses inside an IPv6 one that a translator or tunnel would call. */
function carried(address: Address): Address[] {
  const bytes = address.toByteArray();
  const v4 = (from: number, flip = 0) =>
    new ip.IPv4(bytes.slice(from, from + 4).map((byte) => byte ^ flip));
  if (holds(NAT64, address)) return [v4(12)];
  if (holds(SIX_TO_FOUR, address)) return [v4(2)];
  if (holds(TEREDO, address)) return [v4(4), v4(12, 0xff)];
  return [];
}

function faceRefusal(address: Address, rules: AddressRules): AddressRefusal | null {
  const kind = classOf(address);
  if (kind === "unspecified" || kind === "multicast" || kind === "broadcast") return kind;
  const denied = longest(rules.deny, address);
  const allowed = longest(rules.allow, address);
  if (denied >= 0 && denied >= allowed) return "denied";
  if (allowed >= 0 || kind === "public") return null;
  if (rules.role === "box" && (kind === "private" || kind === "loopback")) return null;
  return kind;
}

/** Prefix length of the longest range that holds the address; -1 for none. */
function longest(ranges: readonly Cidr[] | undefined, address: Address): number {
  let best = -1;
  for (const range of ranges ?? []) {
    if (range.bits > best && holds(range, address)) best = range.bits;
  }
  return best;
}

function holds({ address: base, bits }: Cidr, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

function classOf(address: Address): AddressClass {
  for (const [range, kind] of CLASSES) if (holds(range, address)) return kind;
  return "reserved";
}

function range(text: string): Cidr {
  const [address, bits] = ip.parseCIDR(text);
  return { address, bits };
}

const NAT64 = range("64:ff9b::/96");
const SIX_TO_FOUR = range("2002::/16");
const TEREDO = range("2001::/32");

/** The first range that holds an address gives its class. An address in none of them is reserved. */
const CLASSES: readonly (readonly [Cidr, AddressClass])[] = (
  [
    // Clouds give credentials to any caller of this address.
    ["169.254.169.254/32", "metadata"],
    ["100.100.100.200/32", "metadata"],
    ["168.63.129.16/32", "metadata"],
    ["192.0.0.192/32", "metadata"],
    ["fd00:ec2::254/128", "metadata"],
    ["fd00:ec2::23/128", "metadata"],
    ["fd20:ce::254/128", "metadata"],
    ["fd00:42::42/128", "metadata"],

    ["0.0.0.0/8", "unspecified"],
    ["127.0.0.0/8", "loopback"],
    ["10.0.0.0/8", "private"],
    ["172.16.0.0/12", "private"],
    ["192.168.0.0/16", "private"],
    ["100.64.0.0/10", "private"],
    ["169.254.0.0/16", "link_local"],
    ["192.0.2.0/24", "documentation"],
    ["198.51.100.0/24", "documentation"],
    ["203.0.113.0/24", "documentation"],
    ["192.0.0.0/24", "reserved"],
    ["192.88.99.0/24", "reserved"],
    ["198.18.0.0/15", "reserved"],
    ["224.0.0.0/4", "multicast"],
    ["255.255.255.255/32", "broadcast"],
    ["240.0.0.0/4", "reserved"],
    ["0.0.0.0/0", "public"],

    ["::/128", "unspecified"],
    ["::1/128", "loopback"],
    ["fc00::/7", "private"],
    ["fec0::/10", "private"],
    ["fe80::/10", "link_local"],
    ["ff00::/8", "multicast"],
    ["64:ff9b::/96", "public"],
    ["2001::/32", "public"],
    ["2001:db8::/32", "documentation"],
    ["2001::/23", "reserved"],
    ["3fff::/20", "documentation"],
    ["2000::/3", "public"],
  ] as const
).map(([text, kind]) => [range(text), kind] as const);

/** Whether an address may send: one in the `allowed` ranges, or this machine. An empty list allows all. */
export function mayCome(address: string, allowed: readonly Cidr[]): boolean {
  return (
    allowed.length === 0 || inCidr(address, ...allowed) || addressClass(address) === "loopback"
  );
}

/**
 * The network of a client: `2001:db8:0:1::/64` for an IPv6 address, the address itself for IPv4 (also on a dual-stack
 * socket). Other text is returned unchanged.
 */
export function networkOf(text: string): string {
  // Nearly every address is IPv4 and needs no parsing.
  if (!text.includes(":")) return text;
  const address = readAddress(text);
  if (address === null) return text;
  if (address.kind() === "ipv4") return address.toString();
  const groups = (address as ip.IPv6).parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}
