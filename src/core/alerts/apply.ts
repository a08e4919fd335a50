import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { AlertRow, AlertState } from "./alert.ts";

/** What may become another of an alert's row, by column. */
export type AlertColumns = Partial<Omit<AlertRow, "id" | "project_id" | "project" | "rule_id">>;

/** A row as it was read in this transaction. */
type Seen = Pick<AlertRow, "id" | "state" | "step"> & AlertColumns;

/** What `to` makes of the row as it was seen, by `write`. */
export function change<Row extends Seen>(tx: Tx, seen: Row, to: AlertColumns): Row {
  return write(tx, seen, { ...seen, ...to });
}

/**
 * The one UPDATE of one alert's row: the columns that are another now, where the alert is still in the state and at the step
 * in which it was seen. Throws where it isn't, so that nothing of the transaction holds.
 */
export function write<Row extends Seen>(tx: Tx, seen: Row, row: Row): Row {
  const before: AlertColumns = seen;
  const after: AlertColumns = row;
  const columns: (keyof AlertColumns)[] = [];
  const values: SqlValue[] = [];
  for (const column in after) {
    const of = column as keyof AlertColumns;
    if (after[of] === before[of]) continue;
    columns.push(of);
    values.push(after[of] ?? null);
  }
  if (columns.length === 0) return seen;
  const { changes } = tx
    .sql<SqlValue[]>(
      `UPDATE alerts SET ${columns.join(" = ?, ")} = ? WHERE id = ? AND state = ? AND step = ?`,
    )
    .run(...values, seen.id, seen.state, seen.step);
  if (changes !== 1) throw new Error(`alert ${seen.id} is not as it was seen`);
  return row;
}

/** It changed: those that aren't resolved may be one more or less than when it was in the state `from`. */
export function noteAlert(tx: Tx, row: AlertRow, from: AlertState = row.state): void {
  const stood = (state: AlertState) => (state === "resolved" || row.drill !== 0 ? 0 : 1);
  tx.note({
    topic: "alert",
    alertId: row.id,
    alertKey: row.alert_key,
    ruleId: row.rule_id,
    opened: false,
    unresolved: (stood(row.state) - stood(from)) as -1 | 0 | 1,
  });
}
