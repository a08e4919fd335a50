import { closeSync, constants, copyFileSync, openSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { version } from "../kit/assets.ts";
import { type Clock, unixSeconds } from "../kit/clock.ts";
import { type Contents, checkCopy, growthOf } from "./check.ts";
import type { SqliteDatabase, StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import {
  digestFile,
  dropLeftovers,
  freeBytes,
  syncDirectory,
  syncFile,
  withAside,
  writeSynced,
} from "./files.ts";

/** What FILE.json says of FILE (contract §11). Times in Unix seconds. */
export interface Manifest {
  /** Of the file's bytes, in lower-case hex. */
  sha256: string;
  size: number;
  kind: StoreKind;
  /** The schema's number. */
  schema: number;
  /** The program's version. */
  version: string;
  /** Empty for a registry. */
  tenant_id: string;
  /** Whether a box was sending from the store when the copy was made. */
  serving: boolean;
  taken_at: number;
  /** When it was restored into a scratch place and found to be whole. */
  proved_at: number;
  /** Rows of each table. */
  counts: Record<string, number>;
}

/** Where FILE's manifest lies, and where the next one does while FILE is being replaced. */
export function manifestBeside(file: string): { present: string; next: string } {
  return { present: `${file}.json`, next: `${file}.json.next` };
}

export interface SnapshotOptions {
  /** An open connection to the store; others may write to it all the while. */
  db: SqliteDatabase;
  kind: StoreKind;
  /** FILE. What stands there is replaced once the new copy is proved. */
  to: string;
  clock: Clock;
  isServing: boolean;
}

const SPARE = 1024 * 1024;

/**
 * Makes a consistent copy of a store and proves it: restores it into a scratch place beside it, reads
 * every page there, and compares it with the store. Only then it gets its name, with FILE.json beside it.
 * Throws StoreFault: "io" up front where there is no room, "damaged" where the copy isn't whole.
 */
export function takeSnapshot(options: SnapshotOptions): Manifest {
  const { db, to, clock } = options;
  try {
    dropLeftovers(dirname(to), (name) => name === basename(to));
    mustHaveRoom(db, to);
    return withAside(to, (aside) => {
      const before = growthOf(db);
      const copy = join(aside, "copy.db");
      const taken_at = unixSeconds(clock);
      copyStore(db, copy);
      const digest = digestFile(copy);
      const contents = prove(copy, { before, digest, scratch: join(aside, "restored.db") });
      const manifest: Manifest = {
        ...digest,
        kind: options.kind,
        schema: contents.schema,
        version,
        tenant_id: contents.tenantId,
        serving: options.isServing,
        taken_at,
        proved_at: unixSeconds(clock),
        counts: contents.counts,
      };
      const said = join(aside, "copy.json");
      writeSynced(said, `${JSON.stringify(manifest, null, 2)}\n`);
      // Two names can't change in one step: until both have, what is said of the new bytes lies beside them.
      const next = manifestBeside(to).next;
      renameSync(said, next);
      syncDirectory(dirname(to));
      renameSync(copy, to);
      renameSync(next, manifestBeside(to).present);
      syncDirectory(dirname(to));
      return manifest;
    });
  } catch (error) {
    throw StoreFault.from(error, to);
  }
}

/** One read of the store as of one moment; writers go on meanwhile. */
function copyStore(db: SqliteDatabase, to: string): void {
  // Made by us first: SQLite's own would be readable by others.
  closeSync(openSync(to, "wx", 0o600));
  db.prepare("VACUUM INTO ?").run(to);
  syncFile(to);
}

function prove(
  copy: string,
  how: {
    before: Omit<Contents, "counts">;
    digest: { sha256: string };
    scratch: string;
  },
): Contents {
  const { before, scratch } = how;
  copyFileSync(copy, scratch, constants.COPYFILE_FICLONE);
  if (digestFile(scratch).sha256 !== how.digest.sha256)
    throw new StoreFault("damaged", `${basename(copy)} was read back with other bytes.`);
  const found = checkCopy(scratch);
  const isBehind = Object.entries(before.sequences).some(
    ([table, last]) => (found.sequences[table] ?? 0) < last,
  );
  if (isBehind || found.schema !== before.schema || found.tenantId !== before.tenantId)
    throw new StoreFault("damaged", "The copy is not of the store that it was made from.");
  return found;
}

function mustHaveRoom(db: SqliteDatabase, to: string): void {
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number;
  const used = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  const needed = 2 * used + SPARE;
  const free = freeBytes(dirname(to));
  if (free === null || free >= needed) return;
  throw new StoreFault(
    "io",
    `A proved copy at ${to} needs ${needed} bytes free there; there are ${free}.`,
  );
}
