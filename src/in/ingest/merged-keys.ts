import { keysWithHits, mergeHits } from "../../core/alerts/hits.ts";
import { mergeAlerts, moveAlert } from "../../core/alerts/merge.ts";
import { keysWaiting, mergeWaiting } from "../../core/alerts/waiting.ts";
import type { Tx } from "../../ground/store/store.ts";
import { keyPrefix, rekey } from "./alert-key.ts";

const UNDER = `SELECT id, rule_id AS ruleId, alert_key AS alertKey FROM alerts INDEXED BY alerts_standing
  WHERE project_id = ? AND template_id = ? AND state <> 'resolved' ORDER BY id`;
const STANDING = "SELECT id FROM alerts WHERE alert_key = ? AND state <> 'resolved'";

/** The ids of two templates that were merged. */
export interface MergedTemplates {
  younger: string;
  older: string;
}

/**
 * Moves open alerts, what waits to open, and counted matches from the younger template's keys to the older's, in the transaction that writes
 * the merge. A key has one open alert; `mergeAlerts` decides which stays.
 */
export function mergeKeys(tx: Tx, projectId: number, { younger, older }: MergedTemplates): void {
  const standing = (key: string) => tx.sql<[key: string], number>(STANDING).pluck().get(key);
  const alerts = tx
    .sql<
      [projectId: number, younger: string],
      {
        id: number;
        ruleId: number;
        alertKey: string;
      }
    >(UNDER)
    .all(projectId, younger);
  for (const { id, ruleId, alertKey: from } of alerts) {
    const to = rekey(from, ruleId, younger, older);
    const place = { alertKey: to, templateId: older };
    const other = standing(to);
    if (other === undefined || other === id) moveAlert(tx, id, place);
    else mergeAlerts(tx, [id, other], place);
    mergeHits(tx, ruleId, { from, to, standing: true });
    mergeWaiting(tx, { from, to, templateId: older, standing: true });
  }
  const rules = tx
    .sql<[projectId: number]>("SELECT id FROM rules WHERE project_id = ?")
    .pluck()
    .all(projectId);
  for (const ruleId of rules as number[]) {
    for (const from of keysWithHits(tx, ruleId, keyPrefix(ruleId, younger))) {
      const to = rekey(from, ruleId, younger, older);
      mergeHits(tx, ruleId, { from, to, standing: standing(to) !== undefined });
    }
    for (const from of keysWaiting(tx, ruleId, keyPrefix(ruleId, younger))) {
      const to = rekey(from, ruleId, younger, older);
      mergeWaiting(tx, { from, to, templateId: older, standing: standing(to) !== undefined });
    }
  }
}
