import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StoreKind } from "../../ground/store/database.ts";
import { StoreFault } from "../../ground/store/faults.ts";

/** One store of a data directory (contract §1): the box's, or one of the hosted service's. */
export interface Place {
  data: string;
  /** The path of the file. */
  path: string;
  kind: StoreKind;
  /** The name of the key file for its secrets. */
  keyName: string;
}

/** The place of `box.db`, `hosted.db` or `tenants/<tenant id>.db`. Throws StoreFault for another name. */
export function placeOf(data: string, name = "box.db"): Place {
  const path = join(data, name);
  if (name === "box.db") return { data, path, kind: "box", keyName: "box.key" };
  if (name === "hosted.db" && !existsSync(path) && existsSync(join(data, "node.id")))
    throw new StoreFault(
      "misconfigured",
      "The registry of this node is in PostgreSQL: back it up there, with pg_dump or pg_basebackup, and hosted.key separately.",
    );
  if (name === "hosted.db") return { data, path, kind: "hosted", keyName: "hosted.key" };
  if (/^tenants\/[0-9a-f]{16}\.db$/.test(name))
    return { data, path, kind: "box", keyName: "hosted.key" };
  throw new StoreFault(
    "unavailable",
    `"${name}" is no store of a data directory: box.db, hosted.db or tenants/<tenant id>.db.`,
  );
}
