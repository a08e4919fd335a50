import type { Tx } from "../../ground/store/store.ts";

/**
 * What happens to many alerts alike, with no look at any one of them: a name, the clock, a start of the box, and that what
 * held their news back has changed. Whatever is decided of an alert by itself is written by `change`.
 */

const LOOK = "UPDATE alerts SET held_until = :at, due_at = :at WHERE";
const BY = `${LOOK} silenced_by = :by`;
const OF_RULE = `${LOOK} project_id = :project AND rule_id = :rule AND state <> 'resolved' AND silenced_by IS NOT NULL`;
const BELOW = `${LOOK} silenced_by IN (SELECT 'alert:' || id FROM alerts WHERE project_id = :project AND rule_id = :rule AND state <> 'resolved')`;
const ALL = `${LOOK} silenced_by IS NOT NULL`;

/** Those that `by` holds, a silence's id, or `alert:` and an alert's, are looked at again, at once. */
export function recheckHeldBy(tx: Tx, by: string): void {
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

const FOLLOWERS =
  "UPDATE alerts SET due_at = :at WHERE id IN (SELECT alert_id FROM ladder_followers WHERE change_id = :change)";

/** Those that have to follow a change of their rules' ladder. */
export function lookAgainAtFollowers(tx: Tx, change: number): void {
  const of = { change, at: tx.at };
  noteIf(tx, tx.sql<[typeof of]>(FOLLOWERS).run(of).changes);
}

function noteIf(tx: Tx, changes: number): void {
  if (changes > 0) tx.note({ topic: "due", at: tx.at });
}

const RULE =
  "UPDATE alerts SET rule = :to WHERE project_id = :projectId AND rule_id = :ruleId AND state <> 'resolved'";

/** A rule has another name now: its alerts that aren't over go on, and what holds them holds them. */
export function renameRuleOfAlerts(
  tx: Tx,
  of: { projectId: number; ruleId: number; to: string },
): void {
  tx.sql<[typeof of]>(RULE).run(of);
}

const SOURCE =
  "UPDATE alerts INDEXED BY alerts_standing SET source = :to WHERE project_id = :projectId AND state <> 'resolved' AND source = :from";

/** A source has another name now: silences and filters go on finding its alerts that aren't over. */
export function renameSourceOfAlerts(
  tx: Tx,
  of: { projectId: number; from: string; to: string },
): void {
  tx.sql<[typeof of]>(SOURCE).run(of);
}

/** By when they ended: a project may keep a million that ended before. */
const REOPENABLE = `UPDATE alerts INDEXED BY alerts_resolved SET step = iif(escalation_level = 0, 0, :kept)
  WHERE resolved_at > :since AND state = 'resolved' AND project_id = :project AND rule_id = :rule
    AND step > iif(escalation_level = 0, 0, :kept)`;
/** No alert that ended longer ago is opened again. */
const LONGEST_AWAY = 86_400;

/** Of a rule's alerts that may be opened again only so many steps count as run; none where nobody was paged. */
export function forgetRun(tx: Tx, rule: { id: number; project_id: number }, kept: number): void {
  const of = { project: rule.project_id, rule: rule.id, since: tx.at - LONGEST_AWAY, kept };
  tx.sql<[typeof of]>(REOPENABLE).run(of);
}

const SHIFT = `UPDATE alerts SET ladder_from = ladder_from + :by, step_at = step_at + :by, repeat_at = repeat_at + :by,
    renotify_at = renotify_at + :by, quiet_at = quiet_at + :by, expires_at = expires_at + :by, held_until = held_until + :by,
    wakes_at = wakes_at + :by, undelivered_at = undelivered_at + :by, acked_at = acked_at + :by, due_at = due_at + :by
  WHERE state <> 'resolved'`;

/**
 * Moves everything timed by a jump of the clock (seconds, either way): nothing fires and nothing is skipped. So does since
 * when somebody has it: what its ladder had left to wait is counted from there.
 */
export function shiftTimers(tx: Tx, by: number): void {
  tx.sql<{ by: number }>(SHIFT).run({ by });
  tx.note({ topic: "clock", by });
  tx.note({ topic: "due", at: tx.at });
}

const LATER = `UPDATE alerts SET quiet_at = quiet_at + :by, undelivered_at = undelivered_at + :by
  WHERE due_at IS NOT NULL AND (quiet_at IS NOT NULL OR undelivered_at IS NOT NULL)`;

/** Time in which the box was down isn't counted, neither of quiet nor of pages that don't get through (contract §5). */
export function forgiveAlerts(tx: Tx, by: number): void {
  // due_at may lie too early, so it stays; a row with either time has one.
  tx.sql<{ by: number }>(LATER).run({ by });
}

/**
 * After a start every sender has the whole of its last promise again, for it couldn't report before (contract §22).
 * Nothing ends sooner for it, so due_at stays.
 */
export function renewPromises(tx: Tx): void {
  tx.sql<[now: number]>(
    "UPDATE alerts SET expires_at = max(expires_at, ? + promised) WHERE due_at IS NOT NULL AND expires_at IS NOT NULL AND promised IS NOT NULL",
  ).run(tx.at);
}
