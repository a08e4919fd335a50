import { type AlertRow, alertId, getAlertRow } from "../../alerts/alert.ts";
import { quietAt } from "../../alerts/hold.ts";
import { findRule } from "../../alerts/rule-of.ts";
import { calledOf } from "../../alerts/said.ts";
import { latestTimeline, type NumberedEntry } from "../../alerts/timeline.ts";
import type { StoredRule } from "../../projects/rule.ts";
import type { Quiet } from "../../quiet/decide.ts";
import type { Reader } from "../../store/store.ts";
import type { PageCall } from "../screen.ts";

/** Of a history so many entries are shown, the latest. */
export const MOST_ENTRIES = 500;

/** One alert, and what every part of its page asks of it. */
export interface ShownAlert {
  row: AlertRow;
  /** null once it is deleted. */
  rule: StoredRule | null;
  /** The latest, oldest first. */
  entries: readonly NumberedEntry[];
  /** What keeps an open alert's news back now. */
  quiet: Quiet | null;
  nameOf(account: string): string;
}

/** Throws 404. */
export function readShownAlert({ tenant: { store }, params, now }: PageCall): ShownAlert {
  const row = getAlertRow(store, alertId(params["id"] ?? ""));
  const rule = findRule(store, row.rule_id);
  return {
    row,
    rule,
    entries: latestTimeline(store, row.id, MOST_ENTRIES),
    quiet: row.state === "open" ? quietAt(store, row, { rule, at: now }) : null,
    nameOf: naming(store),
  };
}

/** What accounts are called; each is asked for once. */
export function naming(reader: Reader): (account: string) => string {
  const known = new Map<string, string>();
  return (account) => {
    const name = known.get(account) ?? calledOf(reader, account);
    known.set(account, name);
    return name;
  };
}
