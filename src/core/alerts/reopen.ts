import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { getAlertRow } from "./alert.ts";
import { addOccurrences } from "./buckets.ts";
import { silencedIn } from "./hold.ts";
import { forgetStanding } from "./inhibitor.ts";
import { labelColumns, labelsOf, namesOfRule, withKeys } from "./labels.ts";
import { happen } from "./life/happen.ts";
import { tellWorse } from "./raise-level.ts";

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
interface Return {
  level: number;
  lastMessage: string;
  template: string;
  /** The name of the source that it came from. */
  source: string;
  title: string | null;
  keys: Readonly<Record<string, string>> | null;
  instance: string | null;
  expiresAt: number | null;
}

/**
 * Opens a resolved alert again, as the same one: its ladder goes on from where it stood when it ended, and one
 * `alert.renotified` tells of it.
 */
export function reopen(tx: Tx, id: number, rule: StoredRule, event: Return): void {
  const row = getAlertRow(tx, id);
  const { expiresAt } = event;
  const counted = {
    source: row.source === event.source ? row.source : null,
    count: row.count + 1,
    level: Math.max(row.level, event.level),
    last_seen: tx.at,
    last_message: event.lastMessage,
    template: event.template,
    title: event.title ?? row.title,
    ...labelColumns(withKeys(labelsOf(row), event.keys, namesOfRule(rule))),
    instance: event.instance,
    expires_at: expiresAt,
    promised: expiresAt === null ? null : expiresAt - tx.at,
  };
  forgetStanding(tx, { ...row, ...counted });
  const quiet = () => silencedIn(tx, { ...row, ...counted }, rule);
  const open = happen(tx, row, { what: "reopened", counted }, { rule, quiet });
  addOccurrences(tx, id, 1);
  if (open.level > row.level && open.silenced_by === null)
    tellWorse(tx, open, row.level, JSON.parse(open.page_accounts) as string[]);
}
