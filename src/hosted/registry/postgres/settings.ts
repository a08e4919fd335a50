import { readFileSync } from "node:fs";
import { type DatabaseUrl, readDatabaseUrl } from "./database-url.ts";

/** As commander names them. */
export interface DatabaseFlags {
  database?: string;
  databaseFile?: string;
  databaseCa?: string;
}

/** The registry's database. Its password is in here, so this is never logged. */
export interface DatabaseSettings {
  url: DatabaseUrl;
  /** PEM of the only trusted authority; null: the usual ones. */
  ca: string | null;
}

/** null without a database. Adds a line to `faults` for each error, without any part of the URL. */
export function databaseSettings(flags: DatabaseFlags, faults: string[]): DatabaseSettings | null {
  const { database, databaseFile, databaseCa } = flags;
  if (database !== undefined && databaseFile !== undefined)
    faults.push("--database and --database-file say the same: use one of them");
  const ca = databaseCa === undefined ? null : read("database-ca", databaseCa, faults);
  const named = databaseFile === undefined ? "--database" : "--database-file";
  const text =
    databaseFile === undefined ? database : read("database-file", databaseFile, faults)?.trim();
  if (database === undefined && databaseFile === undefined) {
    if (databaseCa !== undefined) faults.push("--database-ca needs --database");
    return null;
  }
  if (text === undefined || text === null) return null;
  const url = readDatabaseUrl(text, { ca: ca !== null });
  if (typeof url !== "string") return { url, ca };
  faults.push(`${named}: ${url}`);
  return null;
}

function read(name: string, path: string, faults: string[]): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? error.code : "unreadable";
    faults.push(`--${name}: ${path} can't be read (${why})`);
    return null;
  }
}
