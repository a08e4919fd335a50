import type { Reader, Tx } from "../../ground/store/store.ts";
import { waitingPages, withdrawPersonal } from "../../out/paging/pages.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, findAlertRow } from "./alert.ts";
import { silencedAt, silencedIn } from "./hold.ts";
import { happen } from "./life/happen.ts";
import { findRule } from "./rule-of.ts";

/** A page to somebody's contact that is due while its alert is quiet. */

function openRow(reader: Reader, alertId: number): AlertRow | null {
  const row = findAlertRow(reader, alertId);
  return row?.state === "open" ? row : null;
}

export function isSilenced(reader: Reader, alertId: number, at: number): boolean {
  const row = openRow(reader, alertId);
  return (
    row !== null && silencedAt(reader, row, { rule: findRule(reader, row.rule_id), at }) !== null
  );
}

/** Withdraws what waits for contacts, where it is still quiet: the alert is told again when that ends. */
export function holdPages(tx: Tx, alertId: number): void {
  const row = openRow(tx, alertId);
  const rule = row && findRule(tx, row.rule_id);
  if (row === null || silencedIn(tx, row, rule) === null) return;
  const waiting = waitingPeople(tx, row, rule);
  withdrawPersonal(tx, alertId);
  happen(tx, row, { what: "pages_held", waiting }, { rule });
}

/** Whose pages wait still, those of earlier steps among them. */
function waitingPeople(tx: Tx, row: AlertRow, rule: StoredRule | null): string[] {
  // Without a ladder they are those of who wants every alert, and told again as such.
  if (rule !== null && rule.escalations.length === 0) return [];
  return waitingPages(tx, row.id).map(({ account }) => account);
}
