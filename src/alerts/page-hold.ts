import { waitingPages, withdrawPersonal } from "../paging/pages.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { SqlValue } from "../store/database.ts";
import { takeSequence } from "../store/meta.ts";
import type { Reader, Tx } from "../store/store.ts";
import { type AlertRow, getAlertRow, SELECT_ALERT } from "./alert.ts";
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
  const rule = row && findRule(tx, row.rule_id);
  const quiet = row && quietIn(tx, row, rule);
  if (row === null || quiet === null) return;
  const also = owedBesides(tx, row, rule);
  withdrawPersonal(tx, alertId);
  if (also.length > 0) {
    const accounts = [...(JSON.parse(row.page_accounts) as string[]), ...also];
    const values = [JSON.stringify(accounts), takeSequence(tx, "updated_seq"), alertId];
    tx.sql<SqlValue[]>(OWE).run(...values);
  }
  hold(tx, getAlertRow(tx, alertId), { quiet, news: "page", also });
}

const OWE = "UPDATE alerts SET page_accounts = ?, updated_seq = ? WHERE id = ?";

/** Whose pages of earlier steps wait still: they are told again beside those whom the latest paged. */
function owedBesides(tx: Tx, row: AlertRow, rule: StoredRule | null): string[] {
  // Without a ladder they are those of who wants every alert, and told again as such.
  if (rule !== null && rule.escalations.length === 0) return [];
  const paged = new Set(JSON.parse(row.page_accounts) as string[]);
  const waiting = new Set(waitingPages(tx, row.id).map(({ account }) => account));
  return [...waiting].filter((account) => !paged.has(account));
}
