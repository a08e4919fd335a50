import { networkInterfaces } from "node:os";

/** The machine's addresses, from Node. */
type MachineAddresses = ReturnType<typeof networkInterfaces>;

/** Hosts that mean all addresses of the machine. A link can't lead to them. */
const EVERY = /^(\w+:\/\/)(?:0\.0\.0\.0|\[::\]|)(?=:\d)/;
/** Interfaces that programs make for this machine alone. */
const INSIDE = /^(?:docker|br-|veth|virbr|cni|flannel|lo)/;
const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;

/**
 * The address for links to a listener at `url`. Where it listens on all addresses: the machine's first address on the
 * local network, else its first that other machines can reach, else `localhost`.
 */
export function linkUrl(url: string, machine: MachineAddresses = networkInterfaces()): string {
  if (!EVERY.test(url)) return url;
  const found = Object.entries(machine)
    .filter(([name]) => !INSIDE.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("169.254."));
  const host = found.find((address) => PRIVATE.test(address)) ?? found[0] ?? "localhost";
  return url.replace(EVERY, `$1${host}`);
}
