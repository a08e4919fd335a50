import type { Random } from "../../ground/kit/random.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";

/** A data directory whose store is open. */
export interface OpenDirectory {
  data: string;
  store: Store;
  random: Random;
  /** Of the process that serves it; null where nobody does. */
  sealer: Sealer | null;
}
