import { isTimezone } from "../core/oncall/zone.ts";
import { type Cidr, parseCidr } from "../ground/kit/addresses.ts";
import { type FlagsGiven, UsageError, webUrl } from "../ground/kit/flags.ts";
import { type DatabaseSettings, databaseSettings } from "../hosted/registry/postgres/settings.ts";
import type { Settings } from "../out/services/channel.ts";
import { type ChannelSetting, channels } from "../out/services/list.ts";
import type { RetentionLimits } from "../tenant/retention.ts";
import { boxRates, type Rates } from "../web/http/limits.ts";
import type { KnownSender } from "../web/intake/senders.ts";
import { type FlagHashes, flagHashes } from "./box-flags.ts";
import { listenAddress, type Ports, portsOf } from "./listen-address.ts";
import type { boxFlags, servingFlags } from "./serve-flags.ts";

/** The configuration of `box serve`: checked, with all faults reported at once. */
export interface BoxConfig {
  readonly data: string;
  /** Where commits have to be as well before anybody hears of them; null: nowhere. */
  readonly database: DatabaseSettings | null;
  /** What a box does that doesn't hear its database. */
  readonly databaseAway: "go-on" | "stop";
  /** Where the box's other machines reach this one, and what they are told, if that is another address; null: they don't. */
  readonly cluster: { readonly listen: Place; readonly address: Place | null } | null;
  /** What its other machines compare. */
  readonly given: FlagHashes;
  /** Where the sealing key lies; null: in the data directory. */
  readonly keyFile: string | null;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Without a slash at the end. Empty: made from the listening address. */
  readonly publicUrl: string;
  readonly logLevel: string;
  readonly rates: Rates;
  readonly trustedProxies: readonly string[];
  readonly metricsOpen: boolean;
  /** Whether assistants may carry out plans at `/mcp`, and not only make them. */
  readonly allowActs: boolean;
  readonly egressAllow: readonly string[];
  readonly egressDeny: readonly string[];
  /** Whether the console is served. */
  readonly console: boolean;
  /** Settings of kinds of channel, by name. */
  readonly channels: Settings;
  /** Failures in a row and seconds after which a failing endpoint is turned off. */
  readonly breaker: { readonly failures: number; readonly seconds: number };
  readonly retention: Readonly<RetentionLimits>;
  /** Where the addresses for senders are served: by a listener of their own, on the box's own port, or not at all. */
  readonly adapters: {
    readonly listen: { readonly host: string; readonly port: number } | null;
    readonly here: boolean;
  };
  /** Ports for senders, and who may send there. No list: anyone who reaches the port. */
  readonly intake: Ports & {
    readonly allowFrom: readonly string[];
    /** Senders of syslog that can't send a token. */
    readonly senders: readonly KnownSender[];
    /** The zone of times without one; null: the machine's. */
    readonly syslogZone: string | null;
  };
  /** null = no scheduled backups. */
  readonly backups: { readonly dir: string; readonly hours: number; readonly keep: number } | null;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Flags as they are typed. */
export type BoxFlags = FlagsGiven<typeof boxFlags & ReturnType<typeof servingFlags>> &
  Partial<Record<ChannelSetting | "data", string>>;

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Throws UsageError with a line for each bad value. */
export function boxConfig(
  flags: BoxFlags,
  defaults = { listen: "127.0.0.1:8080", data: "./box-data", rates: boxRates },
): BoxConfig {
  const faults: string[] = [];
  const number = (
    name: string,
    value: string | undefined,
    usual: number,
    { least = 0, isWhole = false } = {},
  ): number => {
    if (value === undefined) return usual;
    const n = Number(value);
    const isOne = value.trim() !== "" && Number.isFinite(n) && (!isWhole || Number.isInteger(n));
    if (isOne && n >= least) return n;
    const what = isWhole ? "a whole number" : "a number";
    faults.push(`--${name} must be ${what} of at least ${least}, not "${value}"`);
    return usual;
  };
  const hours = number("backup-hours", flags.backupHours, 1, { least: 0.02 });
  const keep = number("backup-keep", flags.backupKeep, 30, { least: 1, isWhole: true });
  const { host, port } = listenAddress("listen", flags.listen ?? defaults.listen, faults);
  const logLevel = flags.logLevel ?? "info";
  if (!LEVELS.includes(logLevel))
    faults.push(`--log-level must be one of ${LEVELS.join(", ")}, not "${logLevel}"`);
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined))
    faults.push("--tls-cert and --tls-key go together");
  const config: BoxConfig = {
    data: flags.data ?? defaults.data,
    database: databaseOf(flags, faults),
    databaseAway: awayOf(flags, faults),
    cluster: clusterOf(flags, faults),
    given: flagHashes(flags),
    keyFile: flags.keyFile || null,
    host,
    port,
    tls: flags.tlsCert && flags.tlsKey ? { cert: flags.tlsCert, key: flags.tlsKey } : null,
    publicUrl: webUrl("public-url", flags.publicUrl ?? "", faults),
    logLevel,
    rates: {
      ingest: number("ingest-rate", flags.ingestRate, defaults.rates.ingest),
      api: number("api-rate", flags.apiRate, defaults.rates.api),
      pair: number("pair-rate", flags.pairRate, defaults.rates.pair),
    },
    trustedProxies: networks("trusted-proxy", flags.trustedProxy, faults),
    metricsOpen: flags.metricsOpen ?? false,
    allowActs: flags.allowActs ?? false,
    egressAllow: networks("egress-allow", flags.egressAllow, faults),
    egressDeny: networks("egress-deny", flags.egressDeny, faults),
    channels: channelSettings(flags, faults),
    breaker: {
      failures: number("breaker-failures", flags.breakerFailures, 20),
      seconds: number("breaker-hours", flags.breakerHours, 24) * 3600,
    },
    retention: {
      logDays: number("log-days", flags.logDays, 7),
      logBytes: number("log-gib", flags.logGib, 2) * 1024 ** 3,
      historyDays: number("history-days", flags.historyDays, 90),
      numbersDays: number("numbers-days", flags.numbersDays, 800),
    },
    adapters: {
      listen: flags.adaptersListen
        ? listenAddress("adapters-listen", flags.adaptersListen, faults)
        : null,
      here: flags.adaptersHere ?? false,
    },
    intake: intakeConfig(flags, faults),
    console: flags.console ?? true,
    backups: flags.backupDir ? { dir: flags.backupDir, hours, keep } : null,
  };
  if (faults.length > 0) throw new UsageError(faults.join("\n"));
  return Object.freeze(config);
}

function databaseOf(flags: BoxFlags, faults: string[]): DatabaseSettings | null {
  const settings = databaseSettings(flags, faults);
  if (settings !== null && !flags.publicUrl)
    faults.push("--database needs --public-url: links have to lead to whichever machine serves");
  return settings;
}

function awayOf({ databaseAway, ...flags }: BoxFlags, faults: string[]): BoxConfig["databaseAway"] {
  const isNamed = flags.database !== undefined || flags.databaseFile !== undefined;
  if (databaseAway !== undefined && !isNamed) faults.push("--database-away needs --database");
  if (databaseAway === "stop") return "stop";
  if (databaseAway !== undefined && databaseAway !== "go-on")
    faults.push(`--database-away must be go-on or stop, not "${databaseAway}"`);
  return "go-on";
}

export function clusterOf(flags: BoxFlags, faults: string[]): BoxConfig["cluster"] {
  const { clusterListen = "", clusterAddress = "", database, databaseFile } = flags;
  if (clusterListen === "") {
    if (clusterAddress !== "") faults.push("--cluster-address needs --cluster-listen");
    return null;
  }
  if (database === undefined && databaseFile === undefined)
    faults.push(
      "--cluster-listen needs --database: that is where a box's machines find each other",
    );
  const listen = listenAddress("cluster-listen", clusterListen, faults);
  const address = clusterAddress ? listenAddress("cluster-address", clusterAddress, faults) : null;
  const told = address ?? listen;
  if (/^(|0\.0\.0\.0|[0:]+)$/.test(told.host))
    faults.push(
      "--cluster-listen on all addresses needs --cluster-address HOST:PORT: where the box's other machines reach this one",
    );
  return { listen, address };
}

function intakeConfig(flags: BoxFlags, faults: string[]): BoxConfig["intake"] {
  const allowFrom = networks("allow-from", flags.allowFrom, faults);
  const { syslogUdp, syslogTcp, syslogTls, gelfUdp, gelfTcp } = flags;
  const given = {
    "syslog-udp": syslogUdp,
    "syslog-tcp": syslogTcp,
    "syslog-tls": syslogTls,
    "gelf-udp": gelfUdp,
    "gelf-tcp": gelfTcp,
    otlp: flags.otlp,
    es: flags.es,
    smtp: flags.smtp,
  };
  if (syslogTls !== undefined && flags.tlsCert === undefined)
    faults.push("--syslog-tls needs --tls-cert and --tls-key");
  const { syslogZone = "" } = flags;
  if (syslogZone !== "" && !isTimezone(syslogZone))
    faults.push(`--syslog-zone must be a zone like Europe/Vienna, not "${syslogZone}"`);
  return {
    ...portsOf(given, allowFrom, faults),
    allowFrom,
    senders: (flags.syslogSender ?? [])
      .flatMap((text) => text.split(/,(?=[^,=]*=)/))
      .flatMap((text) => knownSender(text.trim(), faults)),
    syslogZone: syslogZone === "" ? null : syslogZone,
  };
}

/** Parses `10.0.0.0/8=PROJECT/SOURCE`, or `sha256:HEX=PROJECT/SOURCE` for a client's certificate. */
function knownSender(text: string, faults: string[]): KnownSender[] {
  const [, who = "", project = "", source = ""] = /^([^=]+)=([^/]+)\/([^/]+)$/.exec(text) ?? [];
  const [, digits] = /^sha256:([0-9a-f:]+)$/i.exec(who) ?? [];
  const certificate = digits?.replaceAll(":", "").toLowerCase();
  const isOne = certificate === undefined ? parseCidr(who) : certificate;
  const isWhole = certificate === undefined || certificate.length === 64;
  if (isOne !== null && isWhole && source !== "")
    return [{ who: isOne, place: { project, source } }];
  faults.push(
    `--syslog-sender takes 10.0.0.0/8=PROJECT/SOURCE or sha256:FINGERPRINT=PROJECT/SOURCE, not "${text}"`,
  );
  return [];
}

/** Each setting of a kind of channel: as given, or its default. */
function channelSettings(flags: BoxFlags, faults: string[]): Settings {
  const values = Object.entries(channels.settings).map(([name, { flag, usual, read }]) => {
    const given = flags[name as ChannelSetting];
    const flagName = /--([a-z-]+)/.exec(flag)?.[1] ?? name;
    return [name, given === undefined ? usual : read(flagName, given, faults)];
  });
  return Object.fromEntries(values);
}

function networks(name: string, values: string[] | undefined, faults: string[]): string[] {
  const list = (values ?? [])
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
  for (const value of list) {
    if (parseCidr(value) === null) {
      faults.push(`--${name} must be a network like 10.0.0.0/8, not "${value}"`);
    }
  }
  return list;
}

/** The networks of a checked configuration. */
export function cidrs(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr).filter((cidr) => cidr !== null);
}
