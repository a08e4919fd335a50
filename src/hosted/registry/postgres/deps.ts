import type { Clock } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import type { RegistrySealer } from "../registry.ts";
import type { Database } from "./connect.ts";

/** What every part of the registry on PostgreSQL needs. Nothing of it leaves this folder. */
export interface PostgresDeps {
  database: Database;
  sealer: RegistrySealer;
  /** Only for durations: points in time are compared with the database's `now()`. */
  clock: Clock;
  random: Random;
  /** This node's name. */
  node: string;
}

/** A timestamp column as whole Unix seconds. */
export const seconds = (column: string): string => `floor(extract(epoch FROM ${column}))::bigint`;

/** No caller waits longer than this for a row's lock. */
const WAITED_SECONDS = 30;

/**
 * Whether a lease of `length` seconds that ends at `column` is over. A lease that ends later than possible is over,
 * too: it began before the database's clock was set back, for example by a failover, and nobody may keep it alive.
 */
export const hasRunOut = (column: string, length: number): string =>
  `(${column} < now() OR ${column} > now() + interval '${length + WAITED_SECONDS} s')`;
