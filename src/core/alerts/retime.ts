import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, SELECT_ALERT } from "./alert.ts";
import { type TimedRule, wholeLadder } from "./ladder.ts";
import { happen } from "./life/happen.ts";
import { same, stepsKept } from "./life/rule.ts";
import { forgetRun } from "./many.ts";

const STANDING = `${SELECT_ALERT} WHERE a.project_id = ? AND a.rule_id = ? AND a.state <> 'resolved' AND a.id > ?
  ORDER BY a.id LIMIT 100`;

/**
 * A rule's standing alerts follow it, in the transaction that replaces the rule or deletes it (`after` null): then an alert
 * stays until somebody resolves it.
 */
export function retimeAlerts(tx: Tx, before: StoredRule, after: StoredRule | null): void {
  if (after !== null && same(timedPart(before), timedPart(after))) return;
  if (after !== null) forgetRunOf(tx, before, after);
  let last = 0;
  while (true) {
    const rows = tx
      .sql<[project_id: number, id: number, last: number], AlertRow>(STANDING)
      .all(before.project_id, before.id, last);
    for (const row of rows) happen(tx, row, { what: "ruled", before }, { rule: after });
    last = rows.at(-1)?.id ?? last;
    if (rows.length === 0) return;
  }
}

/** Of the rule's alerts that ended a short while ago: steps that page others than they did haven't run. */
export function forgetRunOf(tx: Tx, before: StoredRule, after: StoredRule): void {
  const [was, is] = [wholeLadder(before), wholeLadder(after)];
  if (!same(was, is)) forgetRun(tx, before, stepsKept(was, is));
}

function timedPart(rule: TimedRule): object {
  const { renotify_minutes, max_renotify, auto_resolve_quiet_minutes } = rule;
  return { ladder: wholeLadder(rule), renotify_minutes, max_renotify, auto_resolve_quiet_minutes };
}
