import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { giveToOwner } from "../ground/kit/owner.ts";
import { openSqlite } from "../ground/store/database.ts";
import { syncDirectory, syncFile } from "../ground/store/files.ts";
import { restorePages } from "../hosted/record/restore.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import { freshDirectory } from "../records/backup/restore.ts";
import { goOnAbove } from "../records/backup/restored.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { BoxDeps } from "./parts.ts";

/** So many alerts may an owner have opened by its own disk, which is lost. */
const GAP = 100_000;

export interface Replacing {
  database: Database;
  tenantId: string;
  /** Its owner may have given out ids that the database doesn't know. */
  wasLost: boolean;
}

/** Makes the store in the data directory of the database's pages. What was there is moved aside. */
export async function replaceStore(
  path: string,
  { database, tenantId, wasLost }: Replacing,
  deps: BoxDeps,
): Promise<void> {
  const made = `${path}.restoring`;
  const clear = () => {
    for (const end of ["", "-wal", "-shm"]) rmSync(made + end, { force: true });
  };
  deps.log.info("the store is made of the database's pages");
  await onceItAnswers(deps, async () => {
    clear();
    await restorePages(database, tenantId, made);
  });
  const db = openSqlite(made);
  try {
    if (wasLost) db.transaction(() => goOnAbove(db, { gap: GAP })).immediate();
  } finally {
    db.close();
  }
  syncFile(made);
  giveToOwner(made, dirname(path));
  if (existsSync(path)) {
    const aside = moveAside(path, deps);
    deps.log.warn(
      { aside },
      "the store that was here is older than the database's, and kept aside",
    );
  }
  renameSync(made, path);
  syncDirectory(dirname(path));
}

function moveAside(path: string, { clock }: BoxDeps): string {
  const to = freshDirectory(dirname(path), clock);
  // The log first: beside another file it would destroy that.
  for (const end of ["-wal", "-shm", ""])
    if (existsSync(path + end)) renameSync(path + end, join(to, basename(path) + end));
  syncDirectory(to);
  syncDirectory(dirname(path));
  return to;
}
