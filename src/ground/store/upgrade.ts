import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../kit/clock.ts";
import { giveToOwner } from "../kit/owner.ts";
import type { SqliteDatabase, StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { dropLeftovers, freeBytes } from "./files.ts";
import { migrate, userVersion } from "./migrate.ts";
import { type Migration, migrations } from "./migrations.ts";
import { takeSnapshot } from "./snapshot.ts";

interface UpgradeOptions {
  path: string;
  kind: StoreKind;
  clock: Clock;
  older?: "copy" | "refuse";
  migrations?: readonly Migration[];
}

/**
 * Migrates older data to this program's schema after making a proved copy beside the store (`box.db.schema-1` and its
 * `.json`). `box restore` takes that copy if the newer program must be removed again. Throws StoreFault at once where
 * there is too little space for copy and migration.
 */
export function upgrade(db: SqliteDatabase, options: UpgradeOptions): void {
  const { path, kind, clock } = options;
  const known = options.migrations ?? migrations(kind);
  const schema = userVersion(db);
  if (schema === known.length) return;
  if (options.older === "refuse")
    throw new StoreFault(
      "unavailable",
      `${path} has schema ${schema}, this program ${known.length}: start box serve of this program first, which upgrades the data.`,
    );
  dropLeftovers(dirname(path), (name) => name.startsWith(`${basename(path)}.schema-`));
  mustHaveRoom(db, path);
  const copy = `${path}.schema-${schema}`;
  takeSnapshot({ db, kind, to: copy, clock, isServing: false });
  for (const name of [copy, `${copy}.json`]) giveToOwner(name);
  dropOlderCopies(path, copy);
  migrate(db, { kind, clock, known });
}

const SPARE = 16 * 1024 * 1024;

/** Space for two copies while the first is proved; then for one, and for a log that may hold every page. */
export const upgradeNeeds = (bytes: number): number => 2 * bytes + SPARE;

function mustHaveRoom(db: SqliteDatabase, path: string): void {
  const pages = db.pragma("page_count", { simple: true }) as number;
  const needed = upgradeNeeds(pages * (db.pragma("page_size", { simple: true }) as number));
  const free = freeBytes(dirname(path));
  if (free === null || free >= needed) return;
  throw new StoreFault(
    "io",
    `The upgrade of ${path} needs ${needed} bytes free beside it, for a copy and the migration; there are ${free}. Nothing was changed.`,
  );
}

/** Only the latest copy is kept. */
function dropOlderCopies(path: string, keep: string): void {
  const prefix = `${basename(path)}.schema-`;
  const kept = [basename(keep), `${basename(keep)}.json`];
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && !kept.includes(name)) rmSync(join(dirname(path), name));
  }
}
