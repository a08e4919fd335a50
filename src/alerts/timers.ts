import type { StoredRule } from "../projects/rule.ts";
import type { Tx } from "../store/store.ts";

/** Sets the due columns of a new alert from its rule (decisions §5). */
export function startTimers(tx: Tx, alertId: number, rule: StoredRule): void {
  const first = rule.escalations[0];
  const stepAt = first === undefined ? null : tx.at + first.after_minutes * 60;
  const renotifyAt = rule.renotify_minutes === 0 ? null : tx.at + rule.renotify_minutes * 60;
  const quietAt =
    rule.auto_resolve_quiet_minutes === 0 ? null : tx.at + rule.auto_resolve_quiet_minutes * 60;
  const due = [stepAt, renotifyAt, quietAt].filter((at) => at !== null);
  if (due.length === 0) return;
  const dueAt = Math.min(...due);
  tx.sql(
    "UPDATE alerts SET ladder_from = ?, step_at = ?, renotify_at = ?, quiet_at = ?, due_at = ? WHERE id = ?",
  ).run(tx.at, stepAt, renotifyAt, quietAt, dueAt, alertId);
  tx.note({ topic: "due", at: dueAt });
}
