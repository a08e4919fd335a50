import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { AlertRow } from "./alert.ts";
import { earliest, nextRenotify, secondsOf, type TimedRule, type Timers } from "./ladder.ts";

/** The timed parts of an alert that opens at `at` (contract §5). */
export function timersAtOpening(
  rule: TimedRule,
  at: number,
  expiresAt: number | null = null,
): Timers {
  const quiet = rule.auto_resolve_quiet_minutes * 60;
  return {
    ladderFrom: at,
    step: 0,
    stepAt: rule.escalations.length === 0 ? null : at + secondsOf(rule.escalations, 1),
    repeatAt: null,
    renotifyAt: nextRenotify(rule, 0, at),
    renotified: 0,
    quietAt: quiet === 0 ? null : at + quiet,
    expiresAt,
    heldUntil: null,
    wakesAt: null,
  };
}

/** The columns of an alert's row that say what is timed. */
export type TimedRow = Pick<
  AlertRow,
  | "id"
  | "state"
  | "ladder_from"
  | "step"
  | "step_at"
  | "repeat_at"
  | "renotify_at"
  | "renotified"
  | "quiet_at"
  | "expires_at"
  | "held_until"
  | "wakes_at"
>;

export function timersOf(row: TimedRow): Timers {
  return {
    ladderFrom: row.ladder_from,
    step: row.step,
    stepAt: row.step_at,
    repeatAt: row.repeat_at,
    renotifyAt: row.renotify_at,
    renotified: row.renotified,
    quietAt: row.quiet_at,
    expiresAt: row.expires_at,
    heldUntil: row.held_until,
    wakesAt: row.wakes_at,
  };
}

/** Nothing of the rule's is timed any more. What is held back is told, and an acknowledgement ends, all the same. */
export function noTimers(timers: Timers): Timers {
  return {
    ...timers,
    stepAt: null,
    repeatAt: null,
    renotifyAt: null,
    quietAt: null,
    expiresAt: null,
  };
}

/** An alert's timers while somebody has it, until `wakesAt`; null: for good. */
export function acknowledgedTimers(timers: Timers, wakesAt: number | null): Timers {
  const { quietAt, expiresAt } = timers;
  return { ...noTimers(timers), quietAt, expiresAt, wakesAt, heldUntil: null };
}

/** An alert's timers once its acknowledgement has ended: its ladder begins again. */
export function wokenTimers(
  before: Timers,
  { rule, now }: { rule: TimedRule | null; now: number },
): Timers {
  const { quietAt, expiresAt } = before;
  if (rule === null) return { ...noTimers(before), wakesAt: null };
  return { ...timersAtOpening(rule, now, expiresAt), quietAt };
}

const TIMERS =
  "step = ?, step_at = ?, repeat_at = ?, renotify_at = ?, renotified = ?, quiet_at = ?, due_at = ?";
const SEEN = "WHERE id = ? AND state = ? AND step = ?";
const WRITE = `UPDATE alerts SET ${TIMERS} ${SEEN}`;
const WRITE_PAGED = `UPDATE alerts SET ${TIMERS}, escalation_level = ?, page_accounts = ?, updated_seq = ? ${SEEN}`;

/** What a page changes of an alert beside its timers. */
export type PagedColumns = Pick<AlertRow, "escalation_level" | "page_accounts" | "updated_seq">;

/** Sets the timed columns, and what a page changed, where the alert is still as `seen`; whether it was. */
export function writeTimers(
  tx: Tx,
  seen: TimedRow,
  { timers, paged }: { timers: Timers; paged?: PagedColumns | undefined },
): boolean {
  const values = [
    timers.step,
    timers.stepAt,
    timers.repeatAt,
    timers.renotifyAt,
    timers.renotified,
    timers.quietAt,
    earliest(timers),
  ];
  const where = [seen.id, seen.state, seen.step];
  const { changes } =
    paged === undefined
      ? tx.sql<SqlValue[]>(WRITE).run(...values, ...where)
      : tx
          .sql<SqlValue[]>(WRITE_PAGED)
          .run(...values, paged.escalation_level, paged.page_accounts, paged.updated_seq, ...where);
  return changes === 1;
}

const SHIFT = `UPDATE alerts SET ladder_from = ladder_from + :by, step_at = step_at + :by, repeat_at = repeat_at + :by,
    renotify_at = renotify_at + :by, quiet_at = quiet_at + :by, expires_at = expires_at + :by, held_until = held_until + :by,
    wakes_at = wakes_at + :by, acked_at = acked_at + :by, due_at = due_at + :by
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

/** Adds time in which the box was down to every alert's quiet: it isn't counted (contract §5). */
export function extendQuiet(tx: Tx, seconds: number): void {
  // due_at may lie too early, so it stays; a row with either time has one.
  tx.sql<[seconds: number]>(
    "UPDATE alerts SET quiet_at = quiet_at + ? WHERE due_at IS NOT NULL AND quiet_at IS NOT NULL",
  ).run(seconds);
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
