import { openReadOnly, type SqliteDatabase } from "../../ground/store/database.ts";

/**
 * Adapts a restored copy. The copy knows nothing of what happened after it was made, so the box must not send again
 * what was sent, or give out an id twice.
 */

/** What happens to rows that waited to be sent when the copy was made. */
export type Pending = "auto" | "keep" | "drop";

interface RestoredOptions {
  pending: Pending;
  /** Whether a box was sending when the copy was made. */
  wasServing: boolean;
  takenAt: number;
  now: number;
  /** The store that is being replaced; null where it can't be read. */
  replaced: Replaced | null;
}

/** Rows that waited: how many wait on, and how many were ended. */
export interface PendingRows {
  kept: number;
  dropped: number;
}

/** What the replaced store says. */
interface Replaced {
  tenantId: string;
  /** The row's state there; null when the store never had the row. */
  outcome(table: Table, id: number, owner: string): Outcome | null;
  lastAlert: number;
  lastSeq: number;
  close(): void;
}

interface Outcome {
  status: string;
  finished_at: number | null;
}

/** The tables whose rows wait to be sent, and the names of their columns. */
const tables = {
  deliveries: { owner: "integration_id", ended: "finished_at", error: "last_error" },
  executions: { owner: "action_id", ended: "executed_at", error: "error" },
  pages: { owner: "contact_id", ended: "finished_at", error: "last_error" },
} as const;
type Table = keyof typeof tables;
const names = Object.keys(tables) as Table[];

/** null where the store can't be read. */
export function openReplaced(path: string): Replaced | null {
  let db: SqliteDatabase | undefined;
  try {
    db = openReadOnly(path);
    const store = db;
    const one = (sql: string) => store.prepare(sql).pluck().get();
    const last = (table: string) =>
      Number(one(`SELECT seq FROM sqlite_sequence WHERE name = '${table}'`) ?? 0);
    const lasts = new Map(names.map((table) => [table, last(table)]));
    return {
      tenantId: String(one("SELECT value FROM meta WHERE key = 'tenant_id'") ?? ""),
      lastAlert: last("alerts"),
      lastSeq: Number(one("SELECT value FROM meta WHERE key = 'updated_seq'") ?? 0),
      outcome(table, id, owner) {
        if (id > (lasts.get(table) ?? 0)) return null;
        const columns = tables[table];
        const sql = `SELECT status, ${columns.ended} AS finished_at FROM ${table} WHERE id = ? AND ${columns.owner} = ?`;
        try {
          // A row that is gone ended long ago.
          return (
            (store.prepare(sql).get(id, owner) as Outcome) ?? { status: "gone", finished_at: null }
          );
        } catch {
          return null;
        }
      },
      close: () => store.close(),
    };
  } catch {
    db?.close();
    return null;
  }
}

/** Adapts the copy in one transaction, before any box opens it. */
export function settle(db: SqliteDatabase, options: RestoredOptions): PendingRows {
  const run = db.transaction(() => {
    const settled = names
      .filter((table) => isThere(db, table))
      .map((table) => settleTable(db, table, options));
    leaveGap(db, options);
    signOut(db);
    return {
      kept: settled.reduce((sum, { kept }) => sum + kept, 0),
      dropped: settled.reduce((sum, { dropped }) => sum + dropped, 0),
    };
  });
  return run.immediate();
}

/** The copy of an older program may lack the table. */
function isThere(db: SqliteDatabase, table: Table | "sessions" | "walls"): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined;
}

/** A session that was signed out, or a link that was revoked, after the copy was made must not work again. */
function signOut(db: SqliteDatabase): void {
  for (const table of ["sessions", "walls"] as const)
    if (isThere(db, table)) db.prepare(`DELETE FROM ${table}`).run();
}

interface Waiting {
  id: number;
  owner: string;
  /** Whether its endpoint was failing or turned off when the copy was made. */
  was_stuck: number;
  /** Unix milliseconds; the row wasn't sent before this. */
  due_ms: number;
}

const WAITING = {
  deliveries: `SELECT d.id, d.integration_id AS owner,
      coalesce(i.enabled = 0 OR i.consecutive_failures > 0, 0) AS was_stuck, 0 AS due_ms
    FROM deliveries d LEFT JOIN integrations i ON i.id = d.integration_id WHERE d.status = 'pending'`,
  executions: `SELECT id, action_id AS owner, 0 AS was_stuck, 0 AS due_ms FROM executions WHERE status = 'pending'`,
  pages: `SELECT p.id, p.contact_id AS owner, coalesce(c.state = 'off' OR c.failures > 0, 0) AS was_stuck, p.due_ms
    FROM pages p LEFT JOIN contacts c ON c.id = p.contact_id WHERE p.status = 'pending'`,
};

const USUAL = { deliveries: "dropped", executions: "failed", pages: "withdrawn" } as const;
const WHY = "Restored from a backup: it was on its way when the backup was made.";
const KNOWN = "Restored from a backup: over before the restore.";

function settleTable(db: SqliteDatabase, table: Table, options: RestoredOptions): PendingRows {
  const rows = db.prepare(WAITING[table]).all() as Waiting[];
  const settled = { kept: 0, dropped: 0 };
  for (const row of rows) {
    const known = options.replaced?.outcome(table, row.id, row.owner) ?? null;
    if (goesOn(row, known, options)) settled.kept += 1;
    else {
      settled.dropped += 1;
      end(db, table, { row, known, now: options.now });
    }
  }
  return settled;
}

/**
 * Whether a row waits on. The replaced store decides if it knows the row. Otherwise: if no box was sending, all rows
 * wait on. If one was, only rows of endpoints that were failing do (all others were sent seconds later), and pages that
 * a notification rule wants later than now.
 */
function goesOn(row: Waiting, known: Outcome | null, options: RestoredOptions): boolean {
  if (options.pending !== "auto") return options.pending === "keep";
  if (known !== null) return known.status === "pending";
  return !options.wasServing || row.was_stuck === 1 || row.due_ms > options.now * 1000;
}

function end(
  db: SqliteDatabase,
  table: Table,
  { row, known, now }: { row: Waiting; known: Outcome | null; now: number },
): void {
  const over = known === null || ["pending", "gone"].includes(known.status) ? null : known;
  const { error, ended } = tables[table];
  db.prepare(
    `UPDATE ${table} SET status = ?, next_attempt_ms = NULL, ${error} = ?, ${ended} = ? WHERE id = ?`,
  ).run(
    over?.status ?? USUAL[table],
    over === null ? WHY : KNOWN,
    over?.finished_at ?? now,
    row.id,
  );
}

const HOUR = 3600;

/**
 * Alert ids are never given out twice, and readers remember the last one they saw (`pull?cursor=`). So the sequences
 * continue above every id that may have been given out after the copy.
 */
function leaveGap(db: SqliteDatabase, options: RestoredOptions): void {
  const { replaced, now, takenAt, wasServing } = options;
  const since = Math.max(0, now - takenAt);
  const mayHaveGone = replaced === null && (wasServing || since > HOUR);
  const gap = mayHaveGone ? 1000 + since : 0;
  goOnAbove(db, { gap, lastAlert: replaced?.lastAlert ?? 0, lastSeq: replaced?.lastSeq ?? 0 });
}

/** Leaves out so many alert ids, and a thousand times as many numbers of changes; both are above the last ones anyway. */
export function goOnAbove(
  db: SqliteDatabase,
  { gap, lastAlert = 0, lastSeq = 0 }: { gap: number; lastAlert?: number; lastSeq?: number },
): void {
  const read = (sql: string) => Number(db.prepare(sql).pluck().get() ?? 0);
  const alert = Math.max(
    read("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'") + gap,
    lastAlert,
  );
  const seq = Math.max(
    read("SELECT value FROM meta WHERE key = 'updated_seq'") + gap * 1000,
    lastSeq,
  );
  if (alert > 0) {
    db.prepare("DELETE FROM sqlite_sequence WHERE name = 'alerts'").run();
    db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('alerts', ?)").run(alert);
  }
  if (seq > 0)
    db.prepare(
      "INSERT INTO meta (key, value) VALUES ('updated_seq', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ).run(seq);
}
