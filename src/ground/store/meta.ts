import type { Reader, Tx } from "./store.ts";

/** Keys of single values that belong to the whole store. */
export type MetaKey =
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

/** Takes the next `n` values of a rising sequence; returns the first one. */
export function takeSequence(tx: Tx, key: "updated_seq", n = 1): number {
  const last = tx
    .sql<[string, number, number], number>(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = value + ? RETURNING value",
    )
    .pluck()
    .get(key, n, n);
  return (last ?? n) - n + 1;
}
