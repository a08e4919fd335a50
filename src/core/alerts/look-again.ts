import type { Tx } from "../../ground/store/store.ts";

/** What held an alert's news back has changed: it is looked at again, at once. */

const BY = "UPDATE alerts SET held_until = :at, due_at = :at WHERE silenced_by = :by || ''";
const OF_RULE =
  "UPDATE alerts SET held_until = :at, due_at = :at WHERE project_id = :project AND rule_id = :rule AND state <> 'resolved' AND silenced_by IS NOT NULL";
const BELOW =
  "UPDATE alerts SET held_until = :at, due_at = :at WHERE silenced_by IN (SELECT 'alert:' || id FROM alerts WHERE project_id = :project AND rule_id = :rule AND state <> 'resolved')";
const ONE =
  "UPDATE alerts SET held_until = :at, due_at = :at WHERE id = :id AND silenced_by IS NOT NULL";
const ALL = "UPDATE alerts SET held_until = :at, due_at = :at WHERE silenced_by IS NOT NULL";
const SEVERAL = "UPDATE alerts SET source = NULL WHERE id = ?";

/** Those that `by` holds: a silence's id, or `alert:` and an alert's. */
export function lookAgainBy(tx: Tx, by: string): void {
  noteIf(tx, tx.sql<[{ by: string; at: number }]>(BY).run({ by, at: tx.at }).changes);
}

/** Those of a rule: what silences it may be another. */
export function lookAgainOfRule(tx: Tx, rule: { id: number; project_id: number }): void {
  const of = { project: rule.project_id, rule: rule.id, at: tx.at };
  noteIf(tx, tx.sql<[typeof of]>(OF_RULE).run(of).changes);
}

/** Those that a rule's standing alerts hold: it silences nothing any more. */
export function lookAgainBelow(tx: Tx, rule: { id: number; project_id: number }): void {
  const of = { project: rule.project_id, rule: rule.id, at: tx.at };
  noteIf(tx, tx.sql<[typeof of]>(BELOW).run(of).changes);
}

/** One alert, which is worse than it was, or not what it was. */
export function lookAgainAt(tx: Tx, id: number): void {
  noteIf(tx, tx.sql<[{ id: number; at: number }]>(ONE).run({ id, at: tx.at }).changes);
}

/** Events of another source went into it: it is no longer one source's. */
export function isOfSeveral(tx: Tx, id: number): void {
  tx.sql<[id: number]>(SEVERAL).run(id);
  lookAgainAt(tx, id);
}

/** The clock jumped to `at`: no end of what is quiet is where it was. */
export function lookAgainAtAll(tx: Tx, at: number): void {
  noteIf(tx, tx.sql<[{ at: number }]>(ALL).run({ at }).changes);
}

const LOUD =
  "UPDATE alerts SET due_at = :at WHERE state = 'open' AND silenced_by IS NULL AND (due_at IS NULL OR due_at > :at)";

/** Open alerts that nothing keeps quiet so far: a silence has begun. */
export function lookAgainAtLoud(tx: Tx): void {
  noteIf(tx, tx.sql<[{ at: number }]>(LOUD).run({ at: tx.at }).changes);
}

function noteIf(tx: Tx, changes: number): void {
  if (changes > 0) tx.note({ topic: "due", at: tx.at });
}
