import type { Tx } from "../../ground/store/store.ts";
import type { AlertLabels } from "./label-book.ts";
import { labelsFrom } from "./labels.ts";

/**
 * Matches counted towards an alert that has not opened yet, by its key (contract §5, fire_after). A row with
 * `n` 0 marks where an alert of the key was resolved: what stands before it counts towards nothing, also where the
 * key turns out to be one with another.
 */
export interface Hit {
  at: number;
  sourceId: number;
  n: number;
  /** The highest of them. */
  level: number;
  /** What they say about themselves; left out: nothing. */
  said?: AlertLabels | null;
}

/** Whose hits: a rule's row id and the alert's key. */
interface HitKey {
  ruleId: number;
  key: string;
}

const LOAD = `SELECT at, source_id AS sourceId, n, level, said FROM window_hits
  WHERE rule_id = ? AND alert_key = ? AND at > ? AND n > 0 ORDER BY id`;
const ADD =
  "INSERT INTO window_hits (rule_id, alert_key, at, source_id, n, level, said) VALUES (?, ?, ?, ?, ?, ?, ?)";
const DROP = "DELETE FROM window_hits WHERE rule_id = ? AND alert_key = ?";
// Where the rule has no hits there is nothing that a mark could be behind.
const MARK = `INSERT INTO window_hits (rule_id, alert_key, at, source_id, n, level)
  SELECT :rule, :key, :at, 0, 0, 0 WHERE EXISTS (SELECT 1 FROM window_hits WHERE rule_id = :rule)`;
const MARKED =
  "SELECT max(id) FROM window_hits WHERE rule_id = ? AND alert_key IN (?, ?) AND n = 0";
const CUT = "DELETE FROM window_hits WHERE rule_id = ? AND alert_key IN (?, ?) AND id < ?";
const REKEY = "UPDATE window_hits SET alert_key = ? WHERE rule_id = ? AND alert_key = ?";

/** The key's hits later than `after` (Unix seconds), in the order they were counted. */
export function loadHits(tx: Tx, { ruleId, key }: HitKey, after: number): Hit[] {
  type Row = Omit<Hit, "said"> & { said: string | null };
  return tx
    .sql<[ruleId: number, key: string, after: number], Row>(LOAD)
    .all(ruleId, key, after)
    .map((row) => ({ ...row, said: row.said === null ? null : labelsFrom(row.said) }));
}

export function addHit(tx: Tx, { ruleId, key }: HitKey, hit: Hit): void {
  const { at, sourceId, n, level, said = null } = hit;
  type Row = [number, string, number, number, number, number, string | null];
  const text = said === null ? null : JSON.stringify(said);
  tx.sql<Row>(ADD).run(ruleId, key, at, sourceId, n, level, text);
}

export function dropHits(tx: Tx, { ruleId, key }: HitKey): void {
  tx.sql<[ruleId: number, key: string]>(DROP).run(ruleId, key);
}

/** A rule was changed: what it counted before is void. */
export function dropHitsOfRule(tx: Tx, ruleId: number): void {
  tx.sql<[ruleId: number]>("DELETE FROM window_hits WHERE rule_id = ?").run(ruleId);
}

/** An alert of the key was resolved: what was counted before counts no more. */
export function voidHits(tx: Tx, of: HitKey): void {
  dropHits(tx, of);
  tx.sql<{ rule: number; key: string; at: number }>(MARK).run({
    rule: of.ruleId,
    key: of.key,
    at: tx.at,
  });
}

/** The keys with hits, or with a mark, that are `prefix` or begin with it and a colon. */
export function keysWithHits(tx: Tx, ruleId: number, prefix: string): string[] {
  return tx
    .sql<[number, string, string, string], string>(
      `SELECT DISTINCT alert_key FROM window_hits
       WHERE rule_id = ? AND (alert_key = ? OR (alert_key > ? AND alert_key < ?))`,
    )
    .pluck()
    .all(ruleId, prefix, `${prefix}:`, `${prefix};`);
}

/**
 * Two keys turned out to be one: hits of both count together from the latest resolve of either on. Where the key
 * has a standing alert they count towards nothing, as if they had been counted into it.
 */
export function mergeHits(
  tx: Tx,
  ruleId: number,
  { from, to, standing }: { from: string; to: string; standing: boolean },
): void {
  if (standing) {
    for (const key of [from, to]) dropHits(tx, { ruleId, key });
    return;
  }
  const marked = tx
    .sql<[ruleId: number, from: string, to: string], number | null>(MARKED)
    .pluck()
    .get(ruleId, from, to);
  if (marked !== undefined && marked !== null)
    tx.sql<[ruleId: number, from: string, to: string, marked: number]>(CUT).run(
      ruleId,
      from,
      to,
      marked,
    );
  tx.sql<[to: string, ruleId: number, from: string]>(REKEY).run(to, ruleId, from);
}

const SHIFT = "UPDATE window_hits SET at = at + ?";

/** The clock jumped by so many seconds, either way: what a window holds is as old as it was. */
export function shiftHits(tx: Tx, by: number): void {
  tx.sql<[by: number]>(SHIFT).run(by);
}

const COUNTING = `SELECT id, json_extract(body, '$.fire_after.window_minutes') AS minutes FROM rules r
  WHERE EXISTS (SELECT 1 FROM window_hits WHERE rule_id = r.id)`;
const OLD = `DELETE FROM window_hits WHERE id IN
  (SELECT id FROM window_hits WHERE rule_id = ? AND at <= ? LIMIT ?)`;

/** Matches that no window reaches any more: at most `most` of each rule go. Whether there may be more. */
export function sweepHits(tx: Tx, most: number): boolean {
  const sweep = tx.sql<[rule: number, until: number, most: number]>(OLD);
  let gone = 0;
  for (const { id, minutes } of tx.sql<[], { id: number; minutes: number }>(COUNTING).all())
    gone += sweep.run(id, tx.at - minutes * 60, most).changes;
  return gone >= most;
}
