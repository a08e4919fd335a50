import { createHash } from "node:crypto";

/** What a box's flags are like, for its other machine: a hash for each that is given, since values are nobody else's. */
export type FlagHashes = Readonly<Record<string, string>>;

/** Where a machine listens, what lies on it, and how it reaches the database: each has its own. */
const OWN = new Set<string>([
  "data",
  "database",
  "databaseFile",
  "databaseCa",
  "listen",
  "adaptersListen",
  "keyFile",
  "tlsCert",
  "tlsKey",
  "backupDir",
  "logLevel",
  "clusterListen",
  "clusterAddress",
]);
const PORTS = new Set<string>([
  "syslogUdp",
  "syslogTcp",
  "syslogTls",
  "gelfUdp",
  "gelfTcp",
  "otlp",
  "es",
  "smtp",
]);
const HASH_CHARS = 16;

/** Of the flags that all machines of a box should be given alike. Of a port for senders: all but its address. */
export function flagHashes(flags: object): FlagHashes {
  const given = Object.entries(flags).filter(
    ([name, value]) => value !== undefined && !OWN.has(name),
  );
  return Object.fromEntries(
    given.map(([name, value]) => {
      const flag =
        name === "console"
          ? "--no-console"
          : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      const kept = PORTS.has(name) ? (value as string[]).map(withoutAddress).toSorted() : value;
      const hash = createHash("sha256")
        .update(`${flag}\n${JSON.stringify(kept)}`)
        .digest("hex");
      return [flag, hash.slice(0, HASH_CHARS)];
    }),
  );
}

/** `HOST:PORT=PROJECT/SOURCE`, from the equals sign on. */
const withoutAddress = (port: string): string => {
  const at = port.indexOf("=");
  return at < 0 ? "" : port.slice(at);
};

/** The flags that are given otherwise there; none where nothing is known of it. */
export function differingFlags(here: FlagHashes, there: FlagHashes | null): string[] {
  if (there === null) return [];
  const all = new Set([...Object.keys(here), ...Object.keys(there)]);
  return [...all].filter((flag) => here[flag] !== there[flag]).toSorted();
}
