import { statSync } from "node:fs";
import { openReadOnly, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { checkHeader } from "./header.ts";
import { userVersion } from "./migrate.ts";
import { type Migration, migrations } from "./migrations.ts";

/** Larger stores are checked by each backup and by the doctor, because a start must be quick. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/**
 * Checks a file before it is opened for writing: that it is ours, undamaged (small files only), and not from a newer
 * program. It only reads, so a refused file stays unchanged; even closing a file that is open for writing would move
 * its log into it. Throws StoreFault.
 */
export function inspect(options: {
  path: string;
  kind: StoreKind;
  migrations?: readonly Migration[];
}): void {
  const { path, kind } = options;
  try {
    const header = checkHeader(path, kind);
    const known = (options.migrations ?? migrations(kind)).length;
    mustBeKnown(path, header.userVersion, known);
    const isSmall = statSync(path).size + header.walBytes <= CHECKED_BYTES;
    if (isSmall || header.walBytes > 0) readInside(path, { known, isSmall });
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

function readInside(path: string, look: { known: number; isSmall: boolean }): void {
  const db = openReadOnly(path);
  try {
    mustBeKnown(path, userVersion(db), look.known);
    if (!look.isSmall) return;
    const found = db.pragma("quick_check(1)", { simple: true }) as string;
    if (found === "ok") return;
    throw new StoreFault(
      "damaged",
      `${path} is damaged (${oneLine(found)}). It was left untouched: restore a backup with box restore.`,
    );
  } finally {
    db.close();
  }
}

function mustBeKnown(path: string, schema: number, known: number): void {
  if (schema <= known) return;
  throw new StoreFault(
    "newer",
    `${path} has schema ${schema}; this program knows ${known}. Use the newer program: nothing was changed.`,
  );
}

/** SQLite returns its findings in several lines. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 200);
}
