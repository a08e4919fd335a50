import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { LRUCache } from "lru-cache";
import { atMost } from "../kit/at-most.ts";
import type { SqliteDatabase, Statement } from "./database.ts";

/** Statements of drizzle's that are kept: how many texts it has depends on what is asked for. */
const MOST_KEPT = 300;

interface Kept {
  get(text: string): Statement | undefined;
  set(text: string, statement: Statement): unknown;
}

export type Orm = BetterSQLite3Database;

/** Prepares statements, each text once while `kept` has it. */
export function preparer(db: SqliteDatabase, kept: Kept): (text: string) => Statement {
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare(text);
    kept.set(text, statement);
    return statement;
  };
}

/** Drizzle prepares anew what it asks, which takes as long as the asking: this one is handed those that it had. */
export function ormOf(db: SqliteDatabase): Orm {
  const prepare = preparer(db, new LRUCache<string, Statement>(atMost(MOST_KEPT)));
  return drizzle({ client: { prepare } as SqliteDatabase });
}
