import type { Clock } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import type { RegistrySealer } from "../registry.ts";
import type { Database } from "./connect.ts";

/** What every noun on PostgreSQL is made of. Nothing of it leaves this folder. */
export interface PostgresDeps {
  database: Database;
  sealer: RegistrySealer;
  /** For lengths of time alone: what is promised by a time goes by the database's `now()`. */
  clock: Clock;
  random: Random;
  /** This node's name. */
  node: string;
}

/** A column of times as whole Unix seconds. */
export const seconds = (column: string): string => `floor(extract(epoch FROM ${column}))::bigint`;

/** Longer than anybody who asked before a span began may have waited for its row. */
const WAITED_SECONDS = 30;

/**
 * Whether a span of `length` seconds that ends at `column` is over. One that ends later than any can is over, too: it was
 * begun before the database's clock was set back, as where another machine took over, and nobody may keep it going.
 */
export const hasRunOut = (column: string, length: number): string =>
  `(${column} < now() OR ${column} > now() + interval '${length + WAITED_SECONDS} s')`;
