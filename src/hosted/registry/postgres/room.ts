import type { Clock } from "../../../kit/clock.ts";
import type { Random } from "../../../kit/random.ts";
import type { RegistrySealer } from "../registry.ts";
import type { Database } from "./connect.ts";

/** What every noun on PostgreSQL is made of. Nothing of it leaves this room. */
export interface DatabaseRoom {
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
