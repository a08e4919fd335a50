import { isIPv4, isIPv6 } from "node:net";

/**
 * Which addresses may be called, decided without a network (contract §6, Egress). Everything here
 * works on the bytes of an address, so that no spelling of one gets past.
 */

/** What an address is for, as far as calling it goes (IANA special-purpose registries, RFC 6890). */
export type AddressClass =
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

/** Why an address may not be called. `denied`: by the operator's list. */
export type AddressRefusal = Exclude<AddressClass, "public"> | "denied" | "not_an_address";

/** A range of addresses: `bytes` is 4 or 16 long, the first `bits` bits count. */
export interface Cidr {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** Who is calling, and what the operator said beside the classes. */
export interface AddressRules {
  /** A box may call loopback and private addresses, the hosted role may not. */
  readonly role: "box" | "hosted";
  readonly deny?: readonly Cidr[];
  readonly allow?: readonly Cidr[];
}

/**
 * Why `address` (a literal) may not be called; null when it may. Where the operator's lists hold
 * the address the longest prefix decides, and deny wins a tie; otherwise the class does. No list
 * opens unspecified (it reaches loopback), multicast or broadcast. An address that carries an IPv4
 * one (NAT64, 6to4, Teredo) must pass as itself and as every address it carries.
 */
export function addressRefusal(address: string, rules: AddressRules): AddressRefusal | null {
  const bytes = addressBytes(address);
  if (bytes === null) return "not_an_address";
  for (const face of [bytes, ...carried(bytes)]) {
    const refusal = faceRefusal(face, rules);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The class of a literal address; null when it is none. Carried addresses aren't looked into. */
export function addressClass(address: string): AddressClass | null {
  const bytes = addressBytes(address);
  return bytes === null ? null : classOf(bytes);
}

/** Reads `10.0.0.0/8`, `fd00::/8` or one bare address; null when it is neither. */
export function parseCidr(text: string): Cidr | null {
  const [address = "", length, ...rest] = text.split("/");
  const bytes = rest.length > 0 || address.includes("%") ? null : addressBytes(address);
  if (bytes === null) return null;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return null;
  // A prefix of IPv4-mapped addresses is the IPv4 prefix that it maps.
  const bits = Number(length) - (bytes.length === 4 && address.includes(":") ? 96 : 0);
  return bits >= 0 && bits <= bytes.length * 8 ? { bytes, bits } : null;
}

/** Whether a literal address lies in the range; an IPv4-mapped one counts as the IPv4 one. */
export function inCidr(address: string, cidr: Cidr): boolean {
  const bytes = addressBytes(address);
  return bytes !== null && holds(cidr, bytes);
}

/**
 * The 4 or 16 bytes of a literal (no brackets, a zone is ignored), an IPv4-mapped one as the IPv4
 * address that is really called; null when the text is no address.
 */
export function addressBytes(address: string): Uint8Array | null {
  if (isIPv4(address)) return Uint8Array.from(address.split("."), Number);
  if (!isIPv6(address)) return null;
  const bytes = ipv6Bytes(address.replace(/%.*$/, ""));
  return holds(MAPPED, bytes) ? bytes.subarray(12) : bytes;
}

function ipv6Bytes(text: string): Uint8Array {
  const hex = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a, b, c, d] = parts
      .slice(0, 4)
      .map((part) => Number(part).toString(16).padStart(2, "0"));
    return `${a}${b}:${c}${d}`;
  });
  const [head = "", tail] = hex.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array(8 - before.length - after.length).fill("0"), ...after];
  return Uint8Array.from(
    groups.flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

/** The IPv4 addresses inside an IPv6 one that a translator or tunnel on the way would call. */
function carried(bytes: Uint8Array): Uint8Array[] {
  if (holds(NAT64, bytes)) return [bytes.subarray(12)];
  if (holds(SIX_TO_FOUR, bytes)) return [bytes.subarray(2, 6)];
  if (holds(TEREDO, bytes)) return [bytes.subarray(4, 8), bytes.subarray(12).map((b) => b ^ 0xff)];
  return [];
}

function faceRefusal(bytes: Uint8Array, rules: AddressRules): AddressRefusal | null {
  const kind = classOf(bytes);
  if (kind === "unspecified" || kind === "multicast" || kind === "broadcast") return kind;
  const denied = longest(rules.deny, bytes);
  const allowed = longest(rules.allow, bytes);
  if (denied >= 0 && denied >= allowed) return "denied";
  if (allowed >= 0 || kind === "public") return null;
  if (rules.role === "box" && (kind === "private" || kind === "loopback")) return null;
  return kind;
}

/** Length of the longest range that holds the address, -1 for none. */
function longest(ranges: readonly Cidr[] | undefined, bytes: Uint8Array): number {
  let best = -1;
  for (const range of ranges ?? []) {
    if (range.bits > best && holds(range, bytes)) best = range.bits;
  }
  return best;
}

function holds(cidr: Cidr, bytes: Uint8Array): boolean {
  if (cidr.bytes.length !== bytes.length) return false;
  for (let i = 0, left = cidr.bits; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((cidr.bytes[i] ?? 0) & mask) !== ((bytes[i] ?? 0) & mask)) return false;
  }
  return true;
}

function classOf(bytes: Uint8Array): AddressClass {
  for (const [range, kind] of CLASSES) if (holds(range, bytes)) return kind;
  return "reserved";
}

function range(text: string): Cidr {
  const [address = "", bits] = text.split("/");
  return {
    bytes: isIPv4(address) ? Uint8Array.from(address.split("."), Number) : ipv6Bytes(address),
    bits: Number(bits),
  };
}

const MAPPED = range("::ffff:0:0/96");
const NAT64 = range("64:ff9b::/96");
const SIX_TO_FOUR = range("2002::/16");
const TEREDO = range("2001::/32");

/** The first range that holds an address names it; what none holds is reserved. */
const CLASSES: readonly (readonly [Cidr, AddressClass])[] = (
  [
    // Where clouds hand credentials to whoever asks.
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
