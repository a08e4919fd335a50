import { StoreFault } from "../../../ground/store/faults.ts";
import type { MoveMark } from "../moves.ts";
import type { DatabaseTx } from "./connect.ts";

type Asker = Pick<DatabaseTx, "query">;

export async function postgresMoveMark({ query }: Asker, key: MoveMark): Promise<number | null> {
  const rows = await query<{ value: number }>("SELECT value FROM meta WHERE key = $1", [key]);
  return rows[0]?.value ?? null;
}

/** null removes the mark. */
export async function setPostgresMoveMark(
  { query }: Asker,
  key: MoveMark,
  mark: number | null,
): Promise<void> {
  if (mark === null) await query("DELETE FROM meta WHERE key = $1", [key]);
  else
    await query(
      "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      [key, mark],
    );
}

/** Throws StoreFault where the registry was moved to a file, or may have been. */
export async function postgresMustNotHaveMoved(tx: Asker): Promise<void> {
  if ((await postgresMoveMark(tx, "moved")) !== null)
    throw new StoreFault(
      "misconfigured",
      "The database was moved to a file: serve that, without --database.",
    );
  if ((await postgresMoveMark(tx, "moving")) !== null)
    throw new StoreFault(
      "misconfigured",
      "A move of the database to a file was begun, and how it ended isn't known: run the same box hosted move again.",
    );
}
