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

/** The content of FILE.json (contract §11). Times in Unix seconds. */
export interface Manifest {
  /** SHA-256 of the file, in lower-case hex. */
  sha256: string;
  size: number;
  kind: StoreKind;
  /** The schema's number. */
  schema: number;
  /** The program's version. */
  version: string;
  /** Empty for a registry. */
  tenant_id: string;
  /** Whether a box was serving the store when the copy was made. */
  serving: boolean;
  taken_at: number;
  /** When the copy was restored to a temporary place and found complete. */
  proved_at: number;
  /** Rows of each table. */
  counts: Record<string, number>;
}

/** The path of FILE's manifest, and of the next one while FILE is being replaced. */
export function manifestBeside(file: string): { present: string; next: string } {
  return { present: `${file}.json`, next: `${file}.json.next` };
}

interface SnapshotOptions {
  /** An open connection to the store. Others may write to it meanwhile. */
  db: SqliteDatabase;
  kind: StoreKind;
  /** FILE. An old one is replaced once the new copy is proved. */
  to: string;
  clock: Clock;
  isServing: boolean;
}

const SPARE = 1024 * 1024;

/**
 * Makes a consistent copy of a store and proves it: restores it to a temporary place, reads every page, and compares it
 * with the store. Only then the copy gets its name and FILE.json. Throws StoreFault: "io" at once where there is too
 * little space, "damaged" where the copy isn't complete.
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
      // Two files can't be replaced in one step. Until both are, the new copy's manifest lies under this name.
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

/** Copies the store as of one moment. Writers go on meanwhile. */
function copyStore(db: SqliteDatabase, to: string): void {
  // We make it first, because other users could read SQLite's own.
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
    `The copy at ${to} and its check need ${needed} bytes free there; there are ${free}.`,
  );
}
