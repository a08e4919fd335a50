import { withdrawPersonal } from "../paging/pages.ts";
import type { Reader, Tx } from "../store/store.ts";
import { type AlertRow, SELECT_ALERT } from "./alert.ts";
import { hold, quietAt, quietIn } from "./hold.ts";
import { findRule } from "./rule-of.ts";

/** A page to somebody's contact that is due while its alert is quiet. */

function openRow(reader: Reader, alertId: number): AlertRow | null {
  const row = reader.sql<[id: number], AlertRow>(`${SELECT_ALERT} WHERE a.id = ?`).get(alertId);
  return row?.state === "open" ? row : null;
}

export function isSilenced(reader: Reader, alertId: number, at: number): boolean {
  const row = openRow(reader, alertId);
  return row !== null && quietAt(reader, row, { rule: findRule(reader, row.rule_id), at }) !== null;
}

/** Withdraws what waits for contacts, where it is still quiet: the alert is told again when that ends. */
export function holdPages(tx: Tx, alertId: number): void {
  const row = openRow(tx, alertId);
  const quiet = row && quietIn(tx, row, findRule(tx, row.rule_id));
  if (row === null || quiet === null) return;
  withdrawPersonal(tx, alertId);
  hold(tx, row, { quiet, news: "page" });
}
