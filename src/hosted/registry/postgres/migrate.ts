import { StoreFault } from "../../../ground/store/faults.ts";
import { type Migration, migrations } from "../../../ground/store/migrations.ts";
import type { Database, DatabaseTx } from "./connect.ts";
import { DatabaseAway } from "./database-faults.ts";
import { postgresMustNotHaveMoved } from "./move-marks.ts";

/** Rewriting a big table takes time, and the other nodes wait for it. */
const WITHIN_MS = 600_000;
const COMMIT_MS = 3_000;

type Asker = Pick<DatabaseTx, "query">;

/** The migrations of the registry on PostgreSQL, in order. */
export const databaseMigrations = (): readonly Migration[] => migrations("postgres");

/**
 * Runs the migrations that the database doesn't have, in one transaction under a locked row: of several nodes the first
 * runs them and the others wait. An older program can serve on a newer schema if that schema allows it. Throws
 * StoreFault `newer` where it doesn't, `misconfigured` for an unsuitable database, and DatabaseAway.
 */
export async function migrateDatabase(
  database: Database,
  known: readonly Migration[] = databaseMigrations(),
  kind: DatabaseKind = "registry",
): Promise<void> {
  await mustKeep(database);
  await makeMeta(database);
  await mustBe(database, kind);
  await mustCommit(database);
  if ((await schemaOn(database)) >= known.length) return mustBeAllowed(database, known);
  await database.transaction(
    async (tx) => {
      const schema = await lockedSchema(tx);
      await mustBe(tx, kind);
      await mustBeAllowed(tx, known);
      for (const migration of known.slice(schema)) await apply(tx, migration);
      await tx.query("INSERT INTO meta (key, value) VALUES ('kind', $1) ON CONFLICT DO NOTHING", [
        kinds.indexOf(kind),
      ]);
    },
    // The list of migrations is read under the lock, so a repetition does nothing twice.
    { withinMs: WITHIN_MS, repeatable: true },
  );
}

/** What a database is for. Their places are stored. */
const kinds = ["registry", "box"] as const;
type DatabaseKind = (typeof kinds)[number];

/** Throws where the database is for something else. One that doesn't say so is a registry, or new. */
async function mustBe(tx: Asker, kind: DatabaseKind): Promise<void> {
  const [row] = await tx.query<{ value: number }>("SELECT value FROM meta WHERE key = 'kind'");
  const isNew = row === undefined && (await schemaOn(tx)) === 0;
  const found = kinds[row?.value ?? 0];
  if (isNew || found === kind) return;
  throw new StoreFault(
    "misconfigured",
    found === "box"
      ? "The database holds a box: box serve --database runs it. Give the hosted service one of its own."
      : "The database holds the registry of a hosted service. Give the box one of its own.",
  );
}

/** Encodings that can hold every character. */
const ENCODINGS = ["UTF8", "SQL_ASCII"];

/** Throws unless commits are durable, and the encoding can hold every character of a page. */
async function mustKeep(database: Database): Promise<void> {
  const [found] = await database.query<{ encoding: string; commits: string | null }>(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('synchronous_commit', true) AS commits`,
  );
  const { encoding = "", commits } = found ?? {};
  if (!ENCODINGS.includes(encoding))
    throw new StoreFault(
      "misconfigured",
      `The database's encoding is ${encoding}, which lacks characters: make one with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`,
    );
  if (commits === "off")
    throw new StoreFault(
      "misconfigured",
      "The database confirms a commit before it is on disk, because synchronous_commit is off: set it with ALTER ROLE … SET synchronous_commit = 'on'.",
    );
}

/** Creates the table of the lock. If two nodes create it at once, one gets a unique violation and finds the table. */
async function makeMeta(database: Database): Promise<void> {
  const make = () =>
    database.query("CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value bigint NOT NULL)");
  const [found] = await database.query<{ known: boolean }>(
    "SELECT to_regclass('meta') IS NOT NULL AS known",
  );
  if (found?.known === true) return;
  await make().catch((error) => (error instanceof DatabaseAway ? Promise.reject(error) : make()));
}

/** Writes a row, to see whether a commit succeeds. */
const COMMIT = `INSERT INTO meta (key, value) VALUES ('starts', 1)
  ON CONFLICT (key) DO UPDATE SET value = meta.value + 1`;

/** Finds out within seconds, before anything that takes minutes, whether this host can commit: another one may. */
async function mustCommit(database: Database): Promise<void> {
  try {
    await database.query(COMMIT, [], { withinMs: COMMIT_MS });
  } catch (error) {
    if (!(error instanceof DatabaseAway) || error.isRefusal) throw error;
    throw new DatabaseAway(`it is read, and commits nothing: is its standby lost? (${error.why})`, {
      cause: error,
    });
  }
}

async function lockedSchema(tx: DatabaseTx): Promise<number> {
  await tx.query(
    "INSERT INTO meta (key, value) VALUES ('schema', 0), ('least', 0) ON CONFLICT DO NOTHING",
  );
  await tx.query("SELECT 1 FROM meta WHERE key = 'schema' FOR UPDATE");
  return schemaOn(tx);
}

async function schemaOn({ query }: Asker): Promise<number> {
  const [row] = await query<{ value: number }>("SELECT value FROM meta WHERE key = 'schema'");
  return row?.value ?? 0;
}

async function mustBeAllowed(tx: Asker, known: readonly Migration[]): Promise<void> {
  const [least] = await tx.query<{ value: number }>("SELECT value FROM meta WHERE key = 'least'");
  if (known.length < (least?.value ?? 0)) throw tooOld();
  await postgresMustNotHaveMoved(tx);
}

/** For a start, and for a node that stops accepting work because a newer one has changed the schema. */
export function tooOld(): StoreFault {
  return new StoreFault(
    "newer",
    "The database was changed by a newer program, and this one can't work on it any more: run the newer one.",
  );
}

async function apply(tx: DatabaseTx, { number, name, sql }: Migration): Promise<void> {
  await tx.query(sql);
  await tx.query(
    `CREATE TABLE IF NOT EXISTS migrations
       (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  await tx.query("INSERT INTO migrations (number, name) VALUES ($1, $2)", [number, name]);
  await tx.query("UPDATE meta SET value = $1 WHERE key = 'schema'", [number]);
  await tx.query("UPDATE meta SET value = $1 WHERE key = 'least' AND value < $1", [leastOf(sql)]);
}

/** How many migrations a program must know to serve on this file's schema, by the file's first line. */
function leastOf(sql: string): number {
  const least = /^-- least: (\d+)\n/.exec(sql)?.[1];
  if (least === undefined) throw new Error("a migration must say in its first line who may serve");
  return Number(least);
}
