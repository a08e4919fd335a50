import type { Reader, Tx } from "../../ground/store/store.ts";
import type { LadderPart, StoredRule } from "../projects/rule.ts";
import { lookAgainAtFollowers } from "./many.ts";

/**
 * Alerts that have not followed a change of their rule's ladder yet. The change marks them, and each follows when it is
 * looked at next: by the sweep, which looks at all of them in slices, or by what happens to it before.
 */

const CHANGE = "INSERT INTO ladder_changes (before) VALUES (?) RETURNING id";
/** One that hasn't followed an earlier change follows both at once, from where it stands. */
const MARK = `INSERT OR IGNORE INTO ladder_followers (alert_id, change_id)
  SELECT a.id, :change FROM rules r JOIN alerts a ON a.project_id = r.project_id AND a.rule_id = r.id
  WHERE r.ladder_id = :ladder AND a.state <> 'resolved'`;
const DONE = "DELETE FROM ladder_changes WHERE id NOT IN (SELECT change_id FROM ladder_followers)";

/** The alerts of all rules that refer to the ladder follow its change, each from what the ladder was `before`. */
export function markFollowers(
  tx: Tx,
  { ladderId, before }: { ladderId: number; before: LadderPart },
): void {
  tx.sql<[]>(DONE).run();
  const text = JSON.stringify(before);
  const change = tx.sql<[before: string], number>(CHANGE).pluck().get(text) as number;
  tx.sql<[{ ladder: number; change: number }]>(MARK).run({ ladder: ladderId, change });
  lookAgainAtFollowers(tx, change);
}

const BEFORE = `SELECT c.before FROM ladder_followers f JOIN ladder_changes c ON c.id = f.change_id
  WHERE f.alert_id = ?`;
const FORGET = "DELETE FROM ladder_followers WHERE alert_id = ?";

/** The ladder that the alert stands on still; null where it has followed every change. */
export function ladderBefore(reader: Reader, alertId: number): LadderPart | null {
  const text = reader.sql<[id: number], string>(BEFORE).pluck().get(alertId);
  return text === undefined ? null : (JSON.parse(text) as LadderPart);
}

/** The same, and it is followed with this transaction. */
export function takeLadderBefore(tx: Tx, alertId: number): LadderPart | null {
  const before = ladderBefore(tx, alertId);
  if (before !== null) tx.sql<[id: number]>(FORGET).run(alertId);
  return before;
}

/** The rule as it was for somebody who hasn't followed the change of its ladder. */
export function ruleBefore(rule: StoredRule, before: LadderPart): StoredRule {
  const { passes, pass_after_minutes, ...own } = rule;
  return { ...own, ...before };
}

const CHANGES = "SELECT id, before FROM ladder_changes";
const REWRITE = "UPDATE ladder_changes SET before = ? WHERE id = ?";

/** A schedule or its project has another name now: that is no change of whom a step pages. */
export function renameInLadderChanges(tx: Tx, renamed: (name: string) => string): void {
  for (const { id, before } of tx.sql<[], { id: number; before: string }>(CHANGES).all()) {
    const part = JSON.parse(before) as LadderPart;
    const escalations = part.escalations.map((step) => ({
      ...step,
      schedules: step.schedules.map(renamed),
    }));
    tx.sql<[before: string, id: number]>(REWRITE).run(JSON.stringify({ ...part, escalations }), id);
  }
}
