import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { AlertRow } from "./alert.ts";

/** What may become another of an alert's row, by column. */
export type AlertColumns = Partial<Omit<AlertRow, "id" | "project_id" | "project" | "rule_id">>;

/** A row as it was read in this transaction. */
type Seen = Pick<AlertRow, "id" | "state" | "step"> & AlertColumns;

/**
 * The one UPDATE of one alert's row: the columns that are another now, where the alert is still in the state and at the step
 * in which it was seen; the row as it is then. Throws where it isn't, so that nothing of the transaction holds.
 */
export function change<Row extends Seen>(tx: Tx, seen: Row, to: AlertColumns): Row {
  const before: AlertColumns = seen;
  const columns = (Object.keys(to) as (keyof AlertColumns)[]).filter((of) => to[of] !== before[of]);
  if (columns.length === 0) return seen;
  const { changes } = tx
    .sql<SqlValue[]>(
      `UPDATE alerts SET ${columns.join(" = ?, ")} = ? WHERE id = ? AND state = ? AND step = ?`,
    )
    .run(...columns.map((of) => to[of] ?? null), seen.id, seen.state, seen.step);
  if (changes !== 1) throw new Error(`alert ${seen.id} is not as it was seen`);
  return { ...seen, ...to };
}

/** It changed, and counts as unresolved as before. */
export function noteAlert(tx: Tx, { id, alert_key, rule_id }: AlertRow): void {
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: alert_key,
    ruleId: rule_id,
    opened: false,
    unresolved: 0,
  });
}
