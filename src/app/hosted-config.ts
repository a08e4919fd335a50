import { join } from "node:path";
import { type FlagsGiven, UsageError } from "../ground/kit/flags.ts";
import { hostedFiles } from "../hosted/files.ts";
import { isNodeName } from "../hosted/nodes/name.ts";
import { type DatabaseSettings, databaseSettings } from "../hosted/registry/postgres/settings.ts";
import type { Rates } from "../web/http/limits.ts";
import { type BoxConfig, type BoxFlags, boxConfig, clusterOf } from "./config.ts";
import type { hostedFlags } from "./serve-flags.ts";

/** The configuration of `box hosted serve`: checked, with all faults reported at once. */
export interface HostedConfig extends Omit<BoxConfig, "database"> {
  /** Events a second for a tenant of each plan (contract §9). */
  readonly planRates: { readonly free: number; readonly pro: number };
  /** Pages a second that one box may relay; 0 = no limit. */
  readonly relayRate: number;
  /** Hosted tenants that are open at one time. */
  readonly openTenants: number;
  /** Receipt checks may use http and private addresses, for labs and tests. */
  readonly lab: boolean;
  /** The database of a shared registry, and its connections; null: a file in the data directory. */
  readonly database: (DatabaseSettings & { readonly pool: number }) | null;
  /** This node's name; null: the one in its data directory. */
  readonly node: string | null;
  /** The key file for the registry's secrets. */
  readonly keyFile: string;
  /** How long requests are still served after readiness has failed. */
  readonly drainSeconds: number;
}

/** Flags as they are typed. */
export type HostedFlags = BoxFlags & FlagsGiven<typeof hostedFlags> & { hostedKey?: string };

const PLANS = { free: 50, pro: 1000 } as const;
const POOL = 8;
const DRAIN_SECONDS = 5;
/** Log lines of a tenant in a database. */
const LOG_GIB = "0.25";
const MOST_LOG_GIB = 1;
const rates: Rates = { ingest: PLANS.free, api: 100, pair: 10 };

type Whole = (
  name: string,
  text: string | undefined,
  usual: { value: number; least: number },
) => number;

/** Throws UsageError with a line for each bad value. */
export function hostedConfig(flags: HostedFlags): HostedConfig {
  const faults: string[] = [];
  const whole: Whole = (name, text, usual) => {
    if (text === undefined) return usual.value;
    if (/^\d{1,6}$/.test(text) && Number(text) >= usual.least) return Number(text);
    faults.push(`--${name} must be a whole number of at least ${usual.least}, not "${text}"`);
    return usual.value;
  };
  const relayRate = whole("relay-rate", flags.relayRate, { value: 20, least: 0 });
  const openTenants = whole("open-tenants", flags.openTenants, { value: 128, least: 1 });
  const shared = sharedConfig(flags, whole, faults);
  const base = baseConfig(flags, faults);
  if (base === null || faults.length > 0) throw new UsageError(faults.join("\n"));
  const isSet = flags.ingestRate !== undefined;
  const planRates = isSet ? { free: base.rates.ingest, pro: base.rates.ingest } : PLANS;
  const keyFile = flags.hostedKey ?? join(base.data, hostedFiles.key);
  return Object.freeze({
    ...base,
    planRates,
    relayRate,
    openTenants,
    lab: flags.lab ?? false,
    ...shared,
    keyFile,
  });
}

/** The settings of a node that shares its registry. */
function sharedConfig(flags: HostedFlags, whole: Whole, faults: string[]) {
  const settings = databaseSettings(flags, faults);
  const isShared = flags.database !== undefined || flags.databaseFile !== undefined;
  const pool = whole("database-pool", flags.databasePool, { value: POOL, least: 1 });
  const { node = null } = flags;
  if (node !== null && !isNodeName(node))
    faults.push(`--node must be 1 to 64 letters, digits, dots, dashes, not "${node}"`);
  for (const name of ["databasePool", "node"] as const)
    if (!isShared && flags[name] !== undefined)
      faults.push(`--${name === "node" ? name : "database-pool"} needs --database`);
  const drainSeconds = whole("drain-seconds", flags.drainSeconds, {
    value: isShared ? DRAIN_SECONDS : 0,
    least: 0,
  });
  const cluster = clusterOf(flags, faults);
  const database = settings === null ? null : { ...settings, pool };
  return { database, node, drainSeconds, cluster };
}

function baseConfig(flags: BoxFlags, faults: string[]): BoxConfig | null {
  // Its database is the registry's.
  const { database, databaseFile, databaseCa: _ca, ...rest } = flags;
  const { clusterListen: _at, clusterAddress: _told, ...own } = rest;
  const isShared = database !== undefined || databaseFile !== undefined;
  // Every node that opens a tenant fetches them.
  if (isShared) own.logGib ??= LOG_GIB;
  if (isShared && Number(own.logGib) > MOST_LOG_GIB)
    faults.push(`--log-gib must be at most ${MOST_LOG_GIB} with --database, not "${own.logGib}"`);
  try {
    return boxConfig(own, { listen: "127.0.0.1:8090", data: "./box-data", rates });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    faults.unshift(error.message);
    return null;
  }
}
