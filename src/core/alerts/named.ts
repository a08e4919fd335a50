import { uuidOf } from "../../ground/kit/ids.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow, NO_EXTRA } from "./alert.ts";
import { change } from "./apply.ts";
import { raiseLevel } from "./raise-level.ts";
import { findRule } from "./rule-of.ts";

/** An alert that its sender named, as far as the sender's word can end it. */
interface NamedAlert {
  id: number;
  alert_key: string;
  instance: string | null;
  level: number;
  /** Whether the rule lets the source end its alerts. */
  ends_with_source: boolean;
}

const STANDING = `SELECT a.id, a.alert_key, a.instance, a.level,
    (SELECT json_extract(r.body, '$.ends_with_source') FROM rules r WHERE r.id = a.rule_id) AS ends_with_source
  FROM alerts a WHERE a.project_id = ? AND a.dedup_key = ? AND a.room IS ? AND a.state <> 'resolved' AND a.dedup_key IS NOT NULL
  ORDER BY a.id`;

/** The alerts of this name that aren't resolved, of every rule. `room` is a source's id; null: the project's. */
export function namedAlerts(
  reader: Reader,
  { projectId, dedupKey, room }: { projectId: number; dedupKey: string; room: number | null },
): NamedAlert[] {
  type Row = Omit<NamedAlert, "ends_with_source"> & { ends_with_source: number | null };
  const rows = reader
    .sql<[projectId: number, dedupKey: string, room: number | null], Row>(STANDING)
    .all(projectId, dedupKey, room);
  // A rule written before there was a choice, or deleted since, lets the source end its alerts.
  return rows.map((row) => ({ ...row, ends_with_source: row.ends_with_source !== 0 }));
}

const NAMES = `SELECT DISTINCT dedup_key FROM alerts
  WHERE project_id = ? AND room IS ? AND state <> 'resolved' AND dedup_key IS NOT NULL`;

/** The name of an alert that isn't resolved, by the UUID that was made of it (`uuidOf`); null for none. */
export function nameOfId(
  reader: Reader,
  { projectId, id, room }: { projectId: number; id: string; room: number | null },
): string | null {
  const wanted = id.toLowerCase();
  if (!/^[0-9a-f-]{36}$/.test(wanted)) return null;
  const rows = reader
    .sql<[projectId: number, room: number | null], { dedup_key: string }>(NAMES)
    .all(projectId, room);
  return rows.find(({ dedup_key: name }) => uuidOf(name) === wanted)?.dedup_key ?? null;
}

/** How long what somebody resolved here stays so while its sender goes on reporting the same firing. */
const HELD_SECONDS = 3600;

export interface Held {
  /** Somebody resolved this firing a short while ago: it opens nothing yet. */
  swallowed: boolean;
  /** The alert that somebody resolved longer ago, while this firing still goes on. */
  stillFiring: number | null;
}

const LAST = `SELECT id, instance, level, resolved_at FROM alerts WHERE alert_key = ? ORDER BY id DESC LIMIT 1`;
const BY_HAND =
  "SELECT 1 FROM timeline WHERE alert_id = ? AND kind = 'resolved' AND account_id IS NOT NULL";

type Last = { id: number; instance: string | null; level: number; resolved_at: number | null };

const EVER = `SELECT 1 FROM alerts WHERE alert_key = :prefix
  UNION ALL SELECT 1 FROM alerts WHERE alert_key > :prefix || ':' AND alert_key < :prefix || ';' LIMIT 1`;

/** Whether there ever was an alert whose key is this or begins with it and a colon, as far as is remembered. */
export function wasAlert(reader: Reader, prefix: string): boolean {
  return reader.sql<[{ prefix: string }]>(EVER).get({ prefix }) !== undefined;
}

/**
 * What stands in the way of opening an alert of this key for a firing: that somebody resolved it here
 * (contract §22, rule 5). A new firing opens at once, and so does one that is worse than what they resolved.
 */
export function heldBack(
  tx: Tx,
  key: string,
  { instance, level }: { instance: string; level: number },
): Held {
  const last = tx.sql<[key: string], Last>(LAST).get(key);
  const isSame = last !== undefined && last.instance === instance && last.resolved_at !== null;
  if (!isSame || level > last.level || tx.sql<[id: number]>(BY_HAND).get(last.id) === undefined)
    return { swallowed: false, stillFiring: null };
  const since = tx.at - (last.resolved_at ?? 0);
  // Where the clock was set back since then nobody knows how long ago it was: rather too loud.
  const swallowed = since >= 0 && since < HELD_SECONDS;
  return { swallowed, stillFiring: swallowed ? null : last.id };
}

/** The same firing, of which its sender says something else now: a text, details (empty: none), a level if it is higher. */
export function updateNamed(
  tx: Tx,
  alert: NamedAlert,
  said: { level?: number; message?: string; title?: string | null; details?: string },
): void {
  const row = getAlertRow(tx, alert.id);
  const quiet = (findRule(tx, row.rule_id)?.auto_resolve_quiet_minutes ?? 0) * 60;
  const updated = change(tx, row, {
    last_seen: tx.at,
    last_message: said.message ?? row.last_message,
    // A title that was said before was of the text before.
    title: said.message === undefined ? row.title : (said.title ?? null),
    updated_seq: takeSequence(tx),
    quiet_at: row.quiet_at === null ? null : Math.max(row.quiet_at, tx.at + quiet),
    extra: said.details === undefined ? row.extra : withDetails(row, said.details),
  });
  const { level = 0 } = said;
  if (level > alert.level) raiseLevel(tx, updated, level);
}

function withDetails({ extra }: AlertRow, details: string): string {
  const before = extra === null ? NO_EXTRA : JSON.parse(extra);
  return JSON.stringify({ ...before, details: details === "" ? null : details });
}
