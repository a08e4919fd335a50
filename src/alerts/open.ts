import type { StoredRule } from "../projects/rule.ts";
import { takeSequence } from "../store/meta.ts";
import type { Tx } from "../store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import { writeTimeline } from "./timeline.ts";
import { startTimers } from "./timers.ts";

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
  identifiers: Readonly<Record<string, string>>;
}

const INSERT = `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
    first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at)
  VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Opens an alert: the row, its history, its timers and its messages are one transaction. A ladder step
 * that is due at 0 runs with it. The unique key of standing alerts refuses a second one.
 */
export function openAlert(tx: Tx, opening: Opening): AlertRow {
  const { rule } = opening;
  const id = Number(
    tx
      .sql(INSERT)
      .run(
        opening.projectId,
        rule.id,
        rule.name,
        opening.alertKey,
        opening.templateId,
        opening.template,
        opening.level,
        opening.count,
        opening.firstSeen,
        tx.at,
        opening.lastMessage,
        JSON.stringify(opening.identifiers),
        rule.investigate ? 1 : 0,
        takeSequence(tx, "updated_seq"),
        tx.at,
      ).lastInsertRowid,
  );
  writeTimeline(tx, id, { kind: "opened", detail: { rule: rule.name, count: opening.count } });
  emit(tx, getAlertRow(tx, id), { event: "alert.opened", actions: rule.actions });
  startTimers(tx, id, rule);
  tx.note({ topic: "alert", alertId: id, alertKey: opening.alertKey, opened: true });
  return getAlertRow(tx, id);
}
