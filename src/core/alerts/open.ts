import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { addOccurrences } from "./buckets.ts";
import { recentChanges } from "./changes.ts";
import type { AlertLabels } from "./label-book.ts";
import { labelColumns, NO_LABELS } from "./labels.ts";
import { earliest } from "./ladder.ts";
import { happen } from "./life/happen.ts";
import { writeTimeline } from "./timeline.ts";
import { timersAtOpening } from "./timers.ts";

export interface Opening {
  projectId: number;
  rule: StoredRule;
  alertKey: string;
  templateId: string;
  template: string;
  level: number;
  count: number;
  firstSeen: number;
  lastMessage: string;
  /** The name of the source whose event it was. */
  source: string;
  /** Whether all its events are that source's. */
  isOfOneSource: boolean;
  identifiers: Readonly<Record<string, string>>;
  /** Where its sender names it. */
  named?: {
    dedupKey: string;
    /** The source whose own names these are; null: the project's. */
    room: number | null;
    instance: string | null;
    expiresAt: number | null;
    /** The alert of the same firing that somebody resolved here. */
    stillFiring: number | null;
  } | null;
  /** JSON of what was sent beside the message. */
  extra?: string | null;
  /** What its sender calls it. */
  title?: string | null;
  /** What its events say about themselves. */
  labels?: AlertLabels;
  /** Why the rule took it, where it takes only what is new or unusual: `not_heard_for` seconds (0: ever), it `came` so often and `usually` does. */
  because?: Readonly<Record<string, number>>;
  /** Since when it has waited to open, and when it was seen last, Unix seconds; left out: it opens at once. */
  waited?: { since: number; lastSeen: number } | null;
  /** Nothing is wrong: somebody tries whom it reaches, until `endsAt` (Unix seconds). */
  drill?: { by: string; endsAt: number } | null;
}

const INSERT = `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
    first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at,
    ladder_from, step_at, renotify_at, quiet_at, due_at, dedup_key, room, instance, expires_at, promised, extra, source, drill, title, labels, varied, varied_more)
  VALUES (@projectId, @ruleId, @ruleName, @alertKey, 'open', @templateId, @template, @level, @count,
    @firstSeen, @lastSeen, @lastMessage, @identifiers, @investigate, @sequence, @at,
    @ladderFrom, @stepAt, @renotifyAt, @quietAt, @dueAt, @dedupKey, @room, @instance, @expiresAt, @promised, @extra, @source, @drill, @title, @labels, @varied, @varied_more)`;

/**
 * Opens an alert: the row, its history, its timers and its messages are one transaction. A ladder step
 * that is due at 0 runs with it, after `alert.opened`, which shows level 0 and nobody paged
 * (contract §5, Ladder). The unique key of standing alerts refuses a second one.
 */
export function openAlert(tx: Tx, opening: Opening): AlertRow {
  const { rule, named, drill = null, waited = null, because = {} } = opening;
  const again = named?.stillFiring ?? null;
  const id = insert(tx, opening);
  const { count, source } = opening;
  addOccurrences(tx, id, count);
  writeTimeline(tx, id, {
    kind: "opened",
    accountId: drill?.by ?? null,
    detail: {
      ...(drill === null
        ? { rule: rule.name, count, source, level: opening.level }
        : { rule: rule.name, drill: true }),
      ...because,
      ...(waited === null ? {} : { waited_since: waited.since }),
      ...(again === null ? {} : { resolved_here_still_firing_there: String(again) }),
    },
  });
  const changes = recentChanges(tx, opening.projectId, tx.at);
  if (changes.length > 0) writeTimeline(tx, id, { kind: "recent_changes", detail: { changes } });
  const row = happen(tx, getAlertRow(tx, id), { what: "opened" }, { rule });
  if (row.due_at !== null) tx.note({ topic: "due", at: row.due_at });
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: opening.alertKey,
    ruleId: rule.id,
    opened: true,
    unresolved: drill === null ? 1 : 0,
  });
  return row;
}

function insert(tx: Tx, opening: Opening): number {
  const { rule, named = null, drill = null, extra = null, title = null } = opening;
  const usual = timersAtOpening(rule, tx.at, named?.expiresAt);
  const timers = drill === null ? usual : { ...usual, quietAt: null, expiresAt: drill.endsAt };
  const { expiresAt } = timers;
  const { lastInsertRowid } = tx.sql<[object]>(INSERT).run({
    ...opening,
    ...timers,
    ...labelColumns(opening.labels ?? NO_LABELS),
    ruleId: rule.id,
    ruleName: rule.name,
    lastSeen: opening.waited?.lastSeen ?? tx.at,
    identifiers: JSON.stringify(opening.identifiers),
    investigate: rule.investigate && drill === null ? 1 : 0,
    sequence: takeSequence(tx),
    at: tx.at,
    dueAt: earliest(timers),
    dedupKey: named?.dedupKey ?? null,
    room: named?.room ?? null,
    instance: named?.instance ?? null,
    promised: named === null || expiresAt === null ? null : expiresAt - tx.at,
    extra,
    title,
    source: opening.isOfOneSource ? opening.source : null,
    drill: drill === null ? 0 : 1,
  });
  return Number(lastInsertRowid);
}
