import { RecordFault } from "../../ground/store/record/record.ts";
import type { Database, DatabaseTx } from "../registry/postgres/connect.ts";

/** A store as the database knows it. */
export interface FoundStore {
  tenantId: string;
  node: string;
  run: string;
  epoch: number;
  seq: number;
  keyId: string | null;
  /** Its owner may still live. */
  isAlive: boolean;
  /** Its owner left it, and nothing of it is anywhere else. */
  clean: boolean;
  /** Where the other machines reach its owner, HOST:PORT; null: they don't. */
  address: string | null;
  /** A hash for each flag of its owner; null: they aren't known. */
  flags: Readonly<Record<string, string>> | null;
  /** For how many seconds nothing was heard of its owner. */
  unheard: number;
}

export interface Taking {
  tenantId: string;
  node: string;
  /** This process. */
  run: string;
  /** Processes that served this directory before, and so have ended. */
  earlier: readonly string[];
  /** What it was found to be: by that was decided whose pages are the newer ones. null: it wasn't there. */
  found: FoundStore | null;
  /** Where the other machines reach this one, HOST:PORT; null: they don't. */
  address: string | null;
  /** A hash for each flag of this one. */
  flags?: Readonly<Record<string, string>>;
  /** Whether the database is of many stores. Default: of a box alone. */
  isOneOfMany?: boolean;
}

export interface Owned {
  epoch: number;
  seq: number;
  /** Its owner before may have given out numbers that aren't here. */
  wasLost: boolean;
}

const LIFE_SECONDS = 10;
/** How long a process lives after its latest word. By the server's clock, also in a transaction that began earlier. */
export const LIFE = `clock_timestamp() + interval '${LIFE_SECONDS} s'`;

const FOUND = `SELECT tenant_id AS "tenantId", node, run, epoch, seq, key_id AS "keyId", clean,
  alive_until > clock_timestamp() AS "isAlive",
  greatest(0, ${LIFE_SECONDS} + ceil(extract(epoch FROM clock_timestamp() - alive_until)))::int AS unheard,
  (SELECT address FROM tenant_epochs e WHERE e.tenant_id = s.tenant_id AND e.epoch = s.epoch) AS address,
  (SELECT flags FROM tenant_epochs e WHERE e.tenant_id = s.tenant_id AND e.epoch = s.epoch) AS flags
  FROM tenant_stores s`;

/** The box of a database; null where there is none yet. */
export async function findStore(database: Pick<Database, "query">): Promise<FoundStore | null> {
  const [found] = await database.query<FoundStore>(`${FOUND} ORDER BY tenant_id LIMIT 1`);
  return found ?? null;
}

/** One store of a database of many; null where it isn't there. */
export async function findStoreOf(
  database: Pick<Database, "query">,
  tenantId: string,
): Promise<FoundStore | null> {
  const [found] = await database.query<FoundStore>(`${FOUND} WHERE tenant_id = $1`, [tenantId]);
  return found ?? null;
}

/** A machine that stands by. */
export interface Standby {
  node: string;
  run: string;
  version: string;
  /** How many of its tables' versions this program knows. */
  schema: number;
  /** Why it couldn't upgrade the box; null: it hasn't failed. */
  failed: string | null;
}

const STAND_BY = `WITH me AS (
  INSERT INTO nodes (id, run, version, store_schema, alive_until, is_fresh, failed)
    VALUES ($1, $2, $3, $4, ${LIFE}, $5, $6)
    ON CONFLICT (id) DO UPDATE SET run = excluded.run, version = excluded.version,
      store_schema = excluded.store_schema, seen_at = now(), alive_until = excluded.alive_until,
      is_fresh = excluded.is_fresh, failed = excluded.failed)
  ${FOUND} ORDER BY tenant_id LIMIT 1`;
const LOOK_MS = 2_000;

/**
 * Says that this machine stands by, and looks whose the box is. `isFresh`: whether its copy is up to date; null: it
 * couldn't serve the box.
 */
export async function standByFor(
  database: Database,
  { node, run, version, schema, failed = null }: Standby,
  isFresh: boolean | null,
): Promise<FoundStore | null> {
  const values = [node, run, version, schema, isFresh, failed];
  const [found] = await database.query<FoundStore>(STAND_BY, values, { withinMs: LOOK_MS });
  return found ?? null;
}

/** Whether a machine that stands by has a copy that is up to date; null: none has, and none will have. */
export async function isFollowed(database: Database): Promise<boolean | null> {
  const [row] = await database.query<{ isFollowed: boolean | null }>(
    `SELECT bool_or(is_fresh) AS "isFollowed" FROM nodes WHERE alive_until > clock_timestamp()`,
    [],
    { withinMs: LOOK_MS },
  );
  return row?.isFollowed ?? null;
}

/** A machine that stands by, and why it couldn't upgrade the box. */
export interface FailedUpgrade {
  node: string;
  why: string;
}

export function failedUpgrades(database: Database): Promise<FailedUpgrade[]> {
  return database.query<FailedUpgrade>(
    "SELECT id AS node, failed AS why FROM nodes WHERE failed IS NOT NULL AND alive_until > clock_timestamp() ORDER BY id",
    [],
    { withinMs: LOOK_MS },
  );
}

/** Stands by no longer. */
export async function endStandby(
  database: Database,
  { node, run }: Pick<Standby, "node" | "run">,
): Promise<void> {
  await database.query("DELETE FROM nodes WHERE id = $1 AND run = $2", [node, run], {
    withinMs: LOOK_MS,
  });
}

/** Forgets ships that every machine that stands by has seen, or is too late for. */
export async function forgetShips(database: Database): Promise<void> {
  await database.query(
    "DELETE FROM tenant_ships WHERE made_at < clock_timestamp() - interval '10 min'",
    [],
    { withinMs: LOOK_MS },
  );
}

/**
 * Makes the store this process's, under the next epoch. Asked again, it finds that it did. Rejects with RecordFault where
 * another process has it, or had it since it was found.
 */
export function takeStore(database: Database, taking: Taking): Promise<Owned> {
  return database.transaction((tx) => take(tx, taking), { repeatable: true });
}

async function take(tx: DatabaseTx, taking: Taking): Promise<Owned> {
  const { tenantId, node, run, earlier, found, isOneOfMany } = taking;
  const what = isOneOfMany ? "tenant" : "box";
  const [row] = await tx.query<FoundStore>(`${FOUND} WHERE tenant_id = $1 FOR UPDATE`, [tenantId]);
  if (row === undefined) return begin(tx, taking);
  const { epoch, seq, clean } = row;
  if (row.run === run) return { epoch, seq, wasLost: !clean };
  const isOwn = earlier.includes(row.run);
  if (row.isAlive && !isOwn)
    throw new RecordFault("taken", `Node ${row.node} serves this ${what}: two machines can't.`);
  if (found === null ? !isOwn : row.epoch !== found.epoch)
    throw new RecordFault("taken", `Node ${row.node} had this ${what} meanwhile: start again.`);
  await tx.query(
    `UPDATE tenant_stores SET node = $2, run = $3, epoch = epoch + 1, clean = false, alive_until = ${LIFE}
      WHERE tenant_id = $1`,
    [tenantId, node, run],
  );
  await note(tx, taking, { epoch: epoch + 1, seq });
  return { epoch: epoch + 1, seq, wasLost: !clean };
}

async function begin(tx: DatabaseTx, taking: Taking): Promise<Owned> {
  const { tenantId, node, run, found, isOneOfMany } = taking;
  if (found !== null)
    throw new RecordFault("set back", "the database has forgotten this store since it was found");
  await tx.query("SELECT 1 FROM meta WHERE key = 'kind' FOR UPDATE");
  if (!isOneOfMany && (await findStore(tx)) !== null)
    throw new RecordFault("taken", "The database holds another box: give each box one of its own.");
  await tx.query(
    `INSERT INTO tenant_stores (tenant_id, node, run, epoch, alive_until) VALUES ($1, $2, $3, 1, ${LIFE})`,
    [tenantId, node, run],
  );
  await note(tx, taking, { epoch: 1, seq: 0 });
  return { epoch: 1, seq: 0, wasLost: false };
}

/**
 * Of a taking after which nothing was written the next one says the same (`endOfEpoch`), so its row goes. Of one store of
 * many only the latest row is read: what its node didn't bring to the database it never told.
 */
async function note(
  tx: DatabaseTx,
  { tenantId, node, address, flags, isOneOfMany = false }: Taking,
  { epoch, seq }: { epoch: number; seq: number },
): Promise<void> {
  await tx.query(
    "DELETE FROM tenant_epochs WHERE tenant_id = $1 AND ($4 OR epoch = $2 - 1 AND seq = $3)",
    [tenantId, epoch, seq, isOneOfMany],
  );
  await tx.query(
    `INSERT INTO tenant_epochs (tenant_id, epoch, node, seq, address, flags, taken_at)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, clock_timestamp())`,
    [tenantId, epoch, node, seq, address, flags ? JSON.stringify(flags) : null],
  );
}
