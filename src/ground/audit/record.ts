import { ServiceError } from "../kit/errors.ts";
import type { SqliteDatabase } from "../store/database.ts";
import { rowsWritten } from "../store/rows-written.ts";
import type { Store, Tx } from "../store/store.ts";
import { changesOf, type FieldChange, type Image } from "./changes.ts";
import { type WatchedTable, watched } from "./watched.ts";

/** Who makes a change, by which way, and from where. */
export interface Author {
  /** null: the operator of the machine, or a person who has no account yet. */
  accountId: string | null;
  via: "key" | "assistant" | "command" | "pairing" | "page";
  /** The id of the API key, the command, or the way by which a page was answered. */
  hint: string;
  /** The client's address; empty for a command. */
  address: string;
  /** The name of the operation or of the command. */
  verb: string;
  /** The target of the entry where no watched row changed. */
  target: { kind: string; id: string };
}

/** Entries that one transaction writes at most. Further things are only counted. */
const MOST = 500;

/**
 * The same store, but each transaction that changes something also writes its audit entries, or isn't committed.
 * An operation on an alert is an exception: where the disk has space only for the change, the change is written without
 * an entry, because the alert's timeline records it too.
 */
export function auditedStore(store: Store, author: Author): Store {
  const recorder = recorderOf(store.db);
  const write: Store["write"] = (change, how) => {
    const audited = (tx: Tx) => {
      const before = rowsWritten(tx);
      const { result, rows } = recorder.run(() => change(tx));
      if (rows.length > 0) writeChanges(tx, author, rows);
      else if (rowsWritten(tx) > before) writeEntry(tx, author, { ...plain(author), changes: [] });
      return result;
    };
    try {
      return store.write(audited, how);
    } catch (error) {
      if (author.target.kind !== "alert" || !isStorageFull(error)) throw error;
      return store.write(change, how);
    }
  };
  return Object.create(store, { write: { value: write } }) as Store;
}

/** Writes an entry for an action that changed no row, such as a test that was sent. */
export function auditAction(store: Store, author: Author): void {
  try {
    store.write((tx) => writeEntry(tx, author, { ...plain(author), changes: [] }));
  } catch (error) {
    // The action is done, so a full disk is no reason to fail.
    if (!isStorageFull(error)) throw error;
  }
}

export function isStorageFull(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "storage_full";
}

/** An audit entry without its author. */
interface AuditRow {
  kind: string;
  id: string;
  name: string;
  project: string | null;
  changes: readonly FieldChange[];
}

const plain = ({ target }: Author) => ({ ...target, name: "", project: null });

const INSERT = `INSERT INTO audit (at, account_id, via, hint, address, verb, kind, target_id, target_name, project, changes)
  VALUES (@at, @accountId, @via, @hint, @address, @verb, @kind, @id, @name, @project, @changes)`;

export function writeEntry(tx: Tx, author: Author, entry: AuditRow): void {
  const { target: _, ...by } = author;
  const { changes, ...thing } = entry;
  tx.note({ topic: "written", ...thing });
  tx.sql<[object]>(INSERT).run({ ...by, ...thing, at: tx.at, changes: JSON.stringify(changes) });
}

/** A changed row, before and after. null: the row didn't exist then. */
export interface Row {
  table: string;
  before: Image | null;
  after: Image | null;
}

/** Writes one entry for each thing, however often the transaction wrote its rows. */
function writeChanges(tx: Tx, author: Author, rows: readonly Row[]): void {
  const things = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify([row.table, (row.after ?? row.before)?.id]);
    const first = things.get(key);
    things.set(key, first === undefined ? row : { ...first, after: row.after });
  }
  const changed = [...things.values()]
    .map((row) => ({ row, changes: changesOf(watched[row.table] as WatchedTable, row) }))
    .filter(({ changes }) => changes.length > 0);
  for (const { row, changes } of changed.slice(0, MOST)) {
    const { id, name, project } = (row.after ?? row.before) as Image;
    const { kind } = watched[row.table] as WatchedTable;
    const isProject = kind === "project";
    writeEntry(tx, author, {
      kind,
      id: String(id),
      name: String(name),
      changes,
      project: isProject ? String(name) : projectName(tx, rows, project),
    });
  }
  const more = changed.length - MOST;
  if (more > 0 || changed.length === 0)
    writeEntry(tx, author, {
      ...plain(author),
      changes: more > 0 ? [{ field: "more", from: null, to: more }] : [],
    });
}

const PROJECT = "SELECT name FROM projects WHERE id = ?";

/** A project's name, also where this transaction deletes the project. */
function projectName(tx: Tx, rows: readonly Row[], id: number | null): string | null {
  if (id === null) return null;
  const known = tx.sql<[id: number], string>(PROJECT).pluck().get(id);
  if (known !== undefined) return known;
  const gone = rows.find(({ table, before }) => table === "projects" && before?.id === id);
  return gone === undefined ? null : String(gone.before?.name);
}

interface Recorder {
  /** Runs `change`. `rows` are the watched rows that it changed, in order. */
  run<T>(change: () => T): { result: T; rows: Row[] };
}

const recorders = new WeakMap<SqliteDatabase, Recorder>();

/**
 * Temporary triggers of this connection record each write to a watched table, so no operation can forget to. While
 * nobody records, a write to a watched column costs one look at a flag.
 */
function recorderOf(db: SqliteDatabase): Recorder {
  const known = recorders.get(db);
  if (known !== undefined) return known;
  let rows: Row[] | null = null;
  db.function("audit_on", () => (rows === null ? 0 : 1));
  db.function("audit_row", (table: string, before: string | null, after: string | null) => {
    rows?.push({ table, before: imageOf(before), after: imageOf(after) });
    return null;
  });
  for (const [table, what] of Object.entries(watched)) db.exec(triggersOf(table, what));
  const recorder: Recorder = {
    run(change) {
      const seen: Row[] = [];
      rows = seen;
      try {
        return { result: change(), rows: seen };
      } finally {
        rows = null;
      }
    },
  };
  recorders.set(db, recorder);
  return recorder;
}

const imageOf = (json: string | null): Image | null =>
  json === null ? null : (JSON.parse(json) as Image);

function triggersOf(table: string, what: WatchedTable): string {
  const trigger = (on: string, event: string, of: "NEW" | "OLD", images: string) => {
    const only = what.only === undefined ? "" : `${what.only.replaceAll("ROW", of)} AND `;
    return `CREATE TEMP TRIGGER audit_${table}_${on} AFTER ${event} ON main.${table} WHEN ${only}audit_on()
      BEGIN SELECT audit_row('${table}', ${images}); END;`;
  };
  const of = (row: "NEW" | "OLD") => imageSql(what, row);
  const columns = Object.keys(what.fields).join(", ");
  const changed = trigger("changed", `UPDATE OF ${columns}`, "NEW", `${of("OLD")}, ${of("NEW")}`);
  if (what.changesOnly) return changed;
  const made = trigger("made", "INSERT", "NEW", `NULL, ${of("NEW")}`);
  return made + changed + trigger("gone", "DELETE", "OLD", `${of("OLD")}, NULL`);
}

function imageSql({ id, name, inProject, fields }: WatchedTable, row: "NEW" | "OLD"): string {
  const columns = Object.keys(fields).map((column) => `'${column}', ${row}.${column}`);
  const project = inProject ? `${row}.project_id` : "NULL";
  return `json_object('id', ${row}.${id}, 'name', ${row}.${name}, 'project', ${project},
    'columns', json_object(${columns.join(", ")}))`;
}

/** The operator, who needs no account. `command`: the words typed, without values. */
export function operator(command: string): Author {
  const target = { kind: "account", id: "" };
  const who = { accountId: null, via: "command", hint: `box ${command}`, address: "" } as const;
  return { ...who, verb: command, target };
}

/** The store for a command of the operator. */
export function operatorsStore(store: Store, command: string): Store {
  return auditedStore(store, operator(command));
}
