import { networkInterfaces } from "node:os";

/** What Node says of a machine's addresses. */
type MachineAddresses = ReturnType<typeof networkInterfaces>;

/** Hosts that stand for all addresses of the machine, and for none that a link could lead to. */
const EVERY = /^(\w+:\/\/)(?:0\.0\.0\.0|\[::\]|)(?=:\d)/;
/** Made by programs for what runs on this machine alone. */
const INSIDE = /^(?:docker|br-|veth|virbr|cni|flannel|lo)/;
const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;

/**
 * Where others find what listens at `url`, for links: where that is every address of the machine, its first on the local
 * network, else the first that isn't its own alone, else `localhost`.
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
