import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { addOccurrences } from "./buckets.ts";
import { hold, quietIn } from "./hold.ts";
import { afterStep, nextRenotify, type Timers } from "./ladder.ts";
import { tellAgain } from "./renotify.ts";
import { writeTimeline } from "./timeline.ts";
import { timerColumns, timersAtOpening, timersOf } from "./timers.ts";
import { tellWorse } from "./worse.ts";

const LAST = `SELECT id, resolved_at,
    (SELECT t.detail FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'resolved' ORDER BY t.id DESC LIMIT 1) AS detail
  FROM alerts a WHERE a.alert_key = ? ORDER BY a.id DESC LIMIT 1`;

/**
 * The latest alert of this key, where it ended at most so many seconds ago and nobody ended it: its source did,
 * or there was no more news of it. 0 seconds: none.
 */
export function findReopenable(tx: Tx, key: string, seconds: number): number | null {
  if (seconds === 0) return null;
  type Row = { id: number; resolved_at: number | null; detail: string | null };
  const row = tx.sql<[key: string], Row>(LAST).get(key);
  if (row === undefined || row.resolved_at === null || row.resolved_at < tx.at - seconds)
    return null;
  const { by, reason } = JSON.parse(row.detail ?? "{}") as { by?: string; reason?: string };
  const byItself = by === "source" || reason === "quiet" || reason === "stale";
  return byItself ? row.id : null;
}

/** What the event that brings an alert back says of it. */
export interface Return {
  level: number;
  lastMessage: string;
  template: string;
  /** The name of the source that it came from. */
  source: string;
  instance: string | null;
  expiresAt: number | null;
}

/**
 * Opens a resolved alert again, as the same one: its ladder goes on from where it stood when it ended, and one
 * `alert.renotified` tells of it.
 */
export function reopen(tx: Tx, id: number, rule: StoredRule, event: Return): void {
  const row = getAlertRow(tx, id);
  const away = tx.at - (row.resolved_at ?? tx.at);
  const { expiresAt } = event;
  const open = change(tx, row, {
    state: "open",
    resolved_at: null,
    acked_at: null,
    acked_by: null,
    updated_seq: takeSequence(tx, "updated_seq"),
    source: row.source === event.source ? row.source : null,
    count: row.count + 1,
    level: Math.max(row.level, event.level),
    last_seen: tx.at,
    last_message: event.lastMessage,
    template: event.template,
    instance: event.instance,
    expires_at: expiresAt,
    promised: expiresAt === null ? null : expiresAt - tx.at,
    ...timerColumns(timersAgain(timersOf(row), rule, { at: tx.at, away, expiresAt })),
  });
  addOccurrences(tx, id, 1);
  writeTimeline(tx, id, { kind: "reopened", detail: { resolved_for_seconds: away } });
  const quiet = quietIn(tx, open, rule);
  if (quiet !== null) hold(tx, open, { quiet, news: "renotify" });
  else {
    const told = tellAgain(tx, open, { rule, detail: { why: "reopened" } });
    if (open.level > row.level)
      tellWorse(tx, told, row.level, JSON.parse(open.page_accounts) as string[]);
  }
  if (open.due_at !== null) tx.note({ topic: "due", at: open.due_at });
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: row.alert_key,
    ruleId: row.rule_id,
    opened: false,
    unresolved: 1,
  });
}

/** As they were, moved by how long the alert was away; quiet and expiry begin anew. */
export function timersAgain(
  before: Timers,
  rule: StoredRule,
  { at, away, expiresAt }: { at: number; away: number; expiresAt: number | null },
): Timers {
  const ladderFrom = before.ladderFrom + away;
  const ran = { step: Math.min(before.step, rule.escalations.length), ladderFrom, now: at };
  return {
    ...timersAtOpening(rule, at, expiresAt),
    ladderFrom,
    ...afterStep(rule.escalations, ran),
    renotifyAt: nextRenotify(rule, before.renotified, at),
    renotified: before.renotified,
  };
}
