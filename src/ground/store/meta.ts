import type { SqliteDatabase } from "./database.ts";
import type { Reader, Tx } from "./store.ts";

/** Keys of single values that belong to the whole store. */
type MetaKey =
  | "tenant_id"
  | "created_at"
  | "base_url"
  | "listen_url"
  | "updated_seq"
  | "log_line_id"
  | "commits"
  | "last_alive"
  | "clock_seen"
  | "miner_rules"
  | "key_check"
  | "gate_key"
  | "relay_silent"
  | "pushes"
  | "fallback"
  | "last_backup"
  | "doctor"
  | "numbers_read"
  | "numbers_duty"
  | "numbers_open"
  | "numbers_timezone"
  | "digest"
  | "handed";

export function getMeta(reader: Reader, key: MetaKey): string | number | undefined {
  return reader
    .sql<[key: string], string | number>("SELECT value FROM meta WHERE key = ?")
    .pluck()
    .get(key);
}

export function setMeta(tx: Tx, key: MetaKey, value: string | number): void {
  tx.sql<[key: string, value: string | number]>(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  ).run(key, value);
}

/** How far a connection has got in the numbers that it reserved. */
interface Reserved {
  last: number;
  /** The stored value, to which all numbers may be given. */
  until: number;
}

const SEQUENCE = "updated_seq";
/** So many are reserved at once: not each commit writes the page that the value is on. */
const RESERVED = 1_000;
const reserved = new WeakMap<SqliteDatabase, Reserved>();

/** Takes the next `n` values of the rising sequence of changes; returns the first one. Those that a stop leaves over are never used. */
export function takeSequence(tx: Tx, n = 1): number {
  const stored = Number(getMeta(tx, SEQUENCE) ?? 0);
  const known = reserved.get(tx.db);
  // The value is another where a transaction that reserved was undone, or a backup was restored.
  const isKnown = known?.until === stored && known.last + n <= stored;
  const own = isKnown ? known : { last: stored, until: stored + Math.max(n, RESERVED) };
  if (!isKnown) {
    setMeta(tx, SEQUENCE, own.until);
    reserved.set(tx.db, own);
  }
  const first = own.last + 1;
  own.last += n;
  return first;
}

/** The last value that was taken by this connection, which is the only one that writes. */
export function lastOfSequence(reader: Reader): number {
  const stored = Number(getMeta(reader, SEQUENCE) ?? 0);
  const known = reserved.get(reader.db);
  return known?.until === stored ? known.last : stored;
}
