import type { Clock } from "../../ground/kit/clock.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";

/** A data directory that a command names. */
export interface Directory {
  data: string;
  clock: Clock;
  random: Random;
}

/** One whose store is open. */
export interface OpenDirectory {
  data: string;
  store: Store;
  random: Random;
  /** Of the process that serves it; null where nobody does. */
  sealer: Sealer | null;
}
