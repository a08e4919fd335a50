import { openReadOnly, type SqliteDatabase } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { oneLine } from "./inspect.ts";
import { userVersion } from "./migrate.ts";

/** Figures that two copies of one store have in common. */
export interface Contents {
  schema: number;
  /** The tenant's id; empty for a registry. */
  tenantId: string;
  /** Rows of each table. */
  counts: Record<string, number>;
  /** The last id that each table has given. */
  sequences: Record<string, number>;
}

/** Reads every page of a copy on a read-only connection. Throws StoreFault "damaged". */
export function checkCopy(path: string): Contents {
  const db = openReadOnly(path);
  try {
    const found = db.pragma("integrity_check(1)", { simple: true }) as string;
    if (found !== "ok") throw new StoreFault("damaged", `${path} is damaged: ${oneLine(found)}`);
    const broken = (db.pragma("foreign_key_check") as unknown[]).length;
    if (broken > 0) throw new StoreFault("damaged", `${path} holds ${broken} broken references.`);
    return contentsOf(db);
  } catch (error) {
    throw StoreFault.from(error, path);
  } finally {
    db.close();
  }
}

function contentsOf(db: SqliteDatabase): Contents {
  const counts: Record<string, number> = {};
  for (const table of tablesOf(db))
    counts[table] = db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get() as number;
  return { ...growthOf(db), counts };
}

/** Values that only grow or never change. A copy with lower ones isn't a copy of this store. */
export function growthOf(db: SqliteDatabase): Omit<Contents, "counts"> {
  const tables = tablesOf(db, "name IN ('meta', 'sqlite_sequence')");
  const tenant = tables.includes("meta")
    ? db.prepare("SELECT value FROM meta WHERE key = 'tenant_id'").pluck().get()
    : undefined;
  const rows = tables.includes("sqlite_sequence")
    ? (db.prepare("SELECT name, seq FROM sqlite_sequence").all() as { name: string; seq: number }[])
    : [];
  return {
    schema: userVersion(db),
    tenantId: tenant === undefined ? "" : String(tenant),
    sequences: Object.fromEntries(rows.map(({ name, seq }) => [name, seq])),
  };
}

function tablesOf(db: SqliteDatabase, which = "name NOT LIKE 'sqlite_%'"): string[] {
  const text = `SELECT name FROM sqlite_schema WHERE type = 'table' AND ${which} ORDER BY name`;
  return db.prepare(text).pluck().all() as string[];
}
