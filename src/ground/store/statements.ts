import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { LRUCache } from "lru-cache";
import { atMost } from "../kit/at-most.ts";
import type { SqliteDatabase, Statement } from "./database.ts";

/** Drizzle's statements that are kept. The number of texts depends on the queries, so it needs a limit. */
const MOST_KEPT = 300;

interface Kept {
  get(text: string): Statement | undefined;
  set(text: string, statement: Statement): unknown;
}

export type Orm = BetterSQLite3Database;

/** A parameter by itself beside `=` or `LIMIT`. */
const BARE = /(=|\bLIMIT\b)(\s*)(?=[?:@])/gi;

/**
 * SQLite plans a statement anew each time a value is bound to such a parameter, which often costs more than
 * the statement. A plus before it, which changes no value, keeps it from that.
 */
export function steady(text: string): string {
  return text.replace(BARE, "$1$2+");
}

/** Prepares statements; each text once while `kept` holds it. */
export function preparer(db: SqliteDatabase, kept: Kept): (text: string) => Statement {
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare(steady(text));
    kept.set(text, statement);
    return statement;
  };
}

/** Drizzle prepares every query again, which takes as long as the query. This one reuses statements. */
export function ormOf(db: SqliteDatabase): Orm {
  const prepare = preparer(db, new LRUCache<string, Statement>(atMost(MOST_KEPT)));
  return drizzle({ client: { prepare } as SqliteDatabase });
}
