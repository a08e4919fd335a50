import { readFileSync } from "node:fs";

/** Both ends of a TCP connection, as a socket has them. */
export interface Ends {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/** Loopback addresses as the kernel's lists of connections have them, with the list of each. */
const LOOPBACK: Readonly<Record<string, readonly [list: string, hex: string]>> = {
  "127.0.0.1": ["tcp", "0100007F"],
  "::1": ["tcp6", "00000000000000000000000001000000"],
};
const ESTABLISHED = "01";
/** The column with the user id. */
const OWNER = 7;

/**
 * Whether the other end of a connection is a program of the user who runs this one, on this machine (Linux,
 * https://docs.kernel.org/networking/proc_net_tcp.html). False where that can't be told, and for root: programs that speak
 * for other machines may be root's.
 */
export function isOwnUsers(ends: Ends, user = process.getuid?.()): boolean {
  const { remoteAddress = "", remotePort = 0, localPort = 0 } = ends;
  const address = plain(remoteAddress);
  const known = LOOPBACK[address];
  if (!user || known === undefined || plain(ends.localAddress ?? "") !== address) return false;
  const [list, hex] = known;
  const row = `${hex}:${port(remotePort)} ${hex}:${port(localPort)} ${ESTABLISHED} `;
  try {
    const rows = readFileSync(`/proc/self/net/${list}`, "latin1").split("\n");
    const owners = rows
      .filter((text) => text.includes(row))
      .map((text) => text.trim().split(/\s+/)[OWNER]);
    return owners.length === 1 && Number(owners[0]) === user;
  } catch {
    return false;
  }
}

const plain = (address: string) => address.replace(/^::ffff:/, "");
const port = (number: number) => number.toString(16).toUpperCase().padStart(4, "0");
