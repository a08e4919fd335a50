import { constants, existsSync, renameSync, rmSync } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { giveToOwner } from "../ground/kit/owner.ts";
import { openSqlite } from "../ground/store/database.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { syncDirectory } from "../ground/store/files.ts";
import { migrations } from "../ground/store/migrations.ts";
import type { MadeOf } from "../ground/store/record/keeper.ts";
import { openCopy, type StoreCopy } from "../hosted/record/copy.ts";
import type { DatabaseLane } from "../hosted/registry/postgres/connect.ts";
import { freshDirectory } from "../records/backup/restore.ts";
import { goOnAbove } from "../records/backup/restored.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { BoxDeps } from "./parts.ts";

/** So many alerts may an owner have opened by its own disk, which is lost. */
const GAP = 100_000;

/** The file beside the store that is made what the database holds. */
const copyPath = (path: string): string => `${path}.copy`;

interface Replacing {
  copy: StoreCopy;
  /** Its owner may have given out ids that the database doesn't know. */
  wasLost: boolean;
}

/**
 * Opens the copy beside the store. A store that holds nothing but what the database has becomes the copy. Any other is
 * copied, so that only what differs is fetched, and moved aside when the copy takes its place.
 */
export async function openCopyOf(
  path: string,
  { database, tenantId, isKnown }: { database: DatabaseLane; tenantId: string; isKnown: boolean },
): Promise<StoreCopy> {
  const copy = copyPath(path);
  const drop = (of: string) => {
    for (const end of ["-wal", "-shm"]) rmSync(of + end, { force: true });
  };
  if (isKnown && existsSync(path)) {
    drop(path);
    renameSync(path, copy);
  }
  drop(copy);
  if (existsSync(path) && !existsSync(copy))
    // Where it fails, all pages are fetched.
    await copyFile(path, copy, constants.COPYFILE_FICLONE).catch(() => {});
  const opened = openCopy(database, tenantId, copy);
  giveToOwner(copy, dirname(path));
  return opened;
}

/** Whether a newer program has changed the box's tables: this one can't serve it. */
export const isOfNewer = (copy: Pick<StoreCopy, "schema">): boolean =>
  copy.schema() > migrations("box").length;

/**
 * The copy becomes the store in the data directory. Only for the box's owner, since nobody else changes it then. Resolves
 * with what it was made of; null where it was changed since.
 */
export async function replaceStore(
  path: string,
  { copy, wasLost }: Replacing,
  deps: BoxDeps,
): Promise<MadeOf | null> {
  const pages = await onceItAnswers(deps, () => copy.follow());
  const { seq, sums } = copy;
  if (seq === null) throw new StoreFault("damaged", "The database holds no page of this box.");
  deps.log.info({ pages }, "the store is made of the database's pages");
  copy.close();
  const made = copyPath(path);
  if (wasLost) leaveGap(made);
  const [isThere] = await Promise.all([copy.isThere().catch(() => false), syncAside(made)]);
  if (existsSync(path)) {
    const aside = moveAside(path, deps);
    deps.log.warn(
      { aside },
      "the store that was here is older than the database's, and kept aside",
    );
  }
  renameSync(made, path);
  syncDirectory(dirname(path));
  return wasLost || !isThere ? null : { seq, sums };
}

function leaveGap(path: string): void {
  const db = openSqlite(path);
  try {
    db.transaction(() => goOnAbove(db, { gap: GAP })).immediate();
  } finally {
    db.close();
  }
}

/** Syncs a file while the process goes on: of a large one that takes long, and what comes is held meanwhile. */
async function syncAside(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
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
