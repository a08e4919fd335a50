import type { Rates } from "../http/limits.ts";
import { UsageError } from "../kit/flags.ts";
import { type BoxConfig, type BoxFlags, boxConfig } from "./config.ts";

/** What `box hosted serve` runs with: checked, frozen, every fault reported at once. */
export interface HostedConfig extends BoxConfig {
  /** Events a second for a tenant of each plan (contract §9). */
  readonly planRates: { readonly free: number; readonly pro: number };
  /** Pages a second that one box may relay; 0 = off. */
  readonly relayRate: number;
  /** Hosted tenants open at one time. */
  readonly openTenants: number;
  /** Receipt checks may use http and private addresses: for labs and tests. */
  readonly lab: boolean;
}

/** Flags as they are typed; names are commander's. */
export interface HostedFlags extends BoxFlags {
  lab?: boolean;
  relayRate?: string;
  openTenants?: string;
}

const PLANS = { free: 50, pro: 1000 } as const;
const rates: Rates = { ingest: PLANS.free, api: 100, pair: 10 };

/** Throws UsageError with a line for each bad value. */
export function hostedConfig(flags: HostedFlags): HostedConfig {
  const faults: string[] = [];
  const whole = (
    name: string,
    text: string | undefined,
    usual: { value: number; least: number },
  ) => {
    if (text === undefined) return usual.value;
    if (/^\d{1,6}$/.test(text) && Number(text) >= usual.least) return Number(text);
    faults.push(`--${name} must be a whole number of at least ${usual.least}, not "${text}"`);
    return usual.value;
  };
  const relayRate = whole("relay-rate", flags.relayRate, { value: 20, least: 0 });
  const openTenants = whole("open-tenants", flags.openTenants, { value: 128, least: 1 });
  const base = baseConfig(flags, faults);
  if (base === null || faults.length > 0) throw new UsageError(faults.join("\n"));
  const isSet = flags.ingestRate !== undefined;
  const planRates = isSet ? { free: base.rates.ingest, pro: base.rates.ingest } : PLANS;
  return Object.freeze({ ...base, planRates, relayRate, openTenants, lab: flags.lab ?? false });
}

function baseConfig(flags: BoxFlags, faults: string[]): BoxConfig | null {
  try {
    return boxConfig(flags, { listen: "127.0.0.1:8090", data: "./box-data", rates });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    faults.unshift(error.message);
    return null;
  }
}
