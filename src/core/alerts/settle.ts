import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { climbsOf, timersAfter } from "./climbs.ts";
import { escalate } from "./escalate.ts";
import { fallBackIfNobody, pageFallback } from "./fallback.ts";
import { type LaterReport, writeReport } from "./fold.ts";
import { hold, newsOf, quietIn, release } from "./hold.ts";
import { type Climb, type Due, earliest, type Timers, whatIsDue } from "./ladder.ts";
import { reachableIn } from "./personal.ts";
import type { Reach } from "./reach.ts";
import { emitOpened, renotify } from "./renotify.ts";
import { resolve } from "./resolve.ts";
import { wake } from "./snooze.ts";
import { noTimers, timerColumns, timersOf } from "./timers.ts";

/** What settling needs to know of the rest. */
export interface Settling {
  /** The alert's rule as it is now; null once it is deleted. */
  rule(id: number): StoredRule | null;
  reach: Reach;
  /** The next `updated_seq`. */
  nextSeq(): number;
  /** Unix seconds: what was due before this met a box that was down. */
  upSince: number;
  /** What its sender said of it and isn't written yet. */
  later: LaterReportOf;
}

export type LaterReportOf = (row: AlertRow) => LaterReport | null;

/** From here on a page says how late it was. */
const LATE_SECONDS = 5;

/**
 * Does once what is due of an alert that isn't resolved, on its present state: after a gap the missed
 * steps are one page, and of missed repeats and renotifies there is one, with the next counted from now
 * (contract §5). `seen` is the alert as it was read in this transaction; it comes back as it is then.
 */
export function settleAlert(tx: Tx, seen: AlertRow, settling: Settling): AlertRow {
  const rule = settling.rule(seen.rule_id);
  // Without its rule its sender's word ends nothing.
  const row = rule === null ? { ...seen, expires_at: null } : seen;
  const timers = timersOf(row);
  const due = rule === null ? owedOnly(timers, tx.at) : whatIsDue(rule, timers, tx.at);
  if (due.resolve === null) {
    if (row.state === "acknowledged" && row.wakes_at !== null && row.wakes_at <= tx.at)
      return settleOn(tx, wake(tx, row, rule), settling);
    const quiet = row.state === "open" ? quietIn(tx, row, rule) : null;
    if (quiet !== null) return hold(tx, row, { quiet, news: newsOf(due) });
    if (row.silenced_by !== null) return settleOn(tx, letGo(tx, row, rule), settling);
  }
  if (rule === null) return tellOwed(tx, row, { timers, due });
  if (due.resolve !== null) {
    if (wasReported(tx, row, { rule, later: settling.later(row) }))
      return settleAlert(tx, getAlertRow(tx, row.id), settling);
    const quiet_minutes = rule.auto_resolve_quiet_minutes;
    const detail = due.resolve === "quiet" ? { quiet_minutes } : {};
    return resolve(tx, row.id, { reason: row.drill !== 0 ? "drill" : due.resolve, detail });
  }
  if (due.steps === null && due.renotify === null) return idle(tx, row, timers);

  const { reach } = settling;
  const climbs = climbsOf(row, { rule, span: due.steps, reach, reachable: reachableIn(tx) });
  const climbed = climbs.at(-1) ?? null;
  const next = timersAfter({ rule, timers, due, climbed, now: tx.at });
  mustLieAhead(tx, row, next);
  const seq = climbs.some(({ paged }) => paged !== null) ? settling.nextSeq() : 0;
  const paged = climbs
    .map((climb) => pagedColumns(climb, seq))
    .findLast((one) => one !== undefined);
  const run = change(tx, row, { ...timerColumns(next), ...paged });
  const late = (dueAt: number) => lateness({ dueAt, now: tx.at, upSince: settling.upSince });
  if (due.steps !== null)
    for (const climb of climbs)
      escalate(
        tx,
        { ...run, ...pagedColumns(climb, seq) },
        { rule, span: due.steps, climb, late: late(due.steps.dueAt), reach },
      );
  const told = climbed === null ? run : fallBackIfNobody(tx, run, { rule, climbed, reach });
  if (due.renotify !== null)
    renotify(tx, told, { rule, detail: { why: "interval", ...late(due.renotify) } });
  return told;
}

/** What is due of an alert whose rule is deleted: only what was held back. */
function owedOnly({ renotifyAt }: Timers, now: number): Due {
  const renotify = renotifyAt !== null && renotifyAt <= now ? renotifyAt : null;
  return { resolve: null, steps: null, renotify };
}

/** Its rule is deleted: nothing but what was held back is told. */
function tellOwed(tx: Tx, row: AlertRow, { timers, due }: { timers: Timers; due: Due }): AlertRow {
  const next = noTimers(timers);
  if (due.renotify === null) return idle(tx, row, { ...next, renotifyAt: timers.renotifyAt });
  const told = change(tx, row, timerColumns(next));
  // Its ladder has paged nobody and is gone: those are paged who are where nobody else is.
  if (row.page_accounts === "[]")
    return pageFallback(tx, told, { rule: null, why: "rule_deleted" });
  renotify(tx, told, { rule: null, detail: { why: "interval" } });
  return told;
}

/** What is due of an alert that has just become loud, in the same transaction. */
function settleOn(tx: Tx, row: AlertRow, settling: Settling): AlertRow {
  return row.due_at !== null && row.due_at <= tx.at ? settleAlert(tx, row, settling) : row;
}

/** It is quiet no more: of one that nobody heard of the opening is told, and to whom it was given meanwhile. */
export function letGo(tx: Tx, row: AlertRow, rule: StoredRule | null): AlertRow {
  const told = release(tx, row, rule);
  if (row.untold === 0) return told;
  emitOpened(tx, told, { rule, silenced: row.opened_at });
  if (told.page_accounts !== "[]") renotify(tx, told, { rule, detail: { why: "assigned" } });
  return told;
}

/** Whether its sender reported it late enough to keep it from ending: that is written now. */
function wasReported(
  tx: Tx,
  row: AlertRow,
  { rule, later }: { rule: StoredRule; later: LaterReport | null },
): boolean {
  if (later === null) return false;
  const quiet = rule.auto_resolve_quiet_minutes * 60;
  const quietAt = quiet === 0 ? null : Math.max(row.quiet_at ?? 0, later.at + quiet);
  const ends = [quietAt, later.expiresAt].some((at) => at !== null && at <= tx.at);
  if (!ends) writeReport(tx, later);
  return !ends;
}

/** What a page changes of an alert beside its timers. */
type PagedColumns = Pick<AlertRow, "escalation_level" | "page_accounts" | "updated_seq">;

function pagedColumns({ paged }: Climb, seq: number): PagedColumns | undefined {
  if (paged === null) return undefined;
  return {
    escalation_level: paged.span.last,
    page_accounts: JSON.stringify(paged.accounts),
    updated_seq: seq,
  };
}

/** due_at lay too early: it is set right and nothing else changes. */
function idle(tx: Tx, row: AlertRow, timers: Timers): AlertRow {
  mustLieAhead(tx, row, timers);
  return change(tx, row, timerColumns(timers));
}

/** Without this an alert that is settled and still due would be settled for ever. */
function mustLieAhead(tx: Tx, row: AlertRow, timers: Timers): void {
  const at = earliest(timers);
  if (at !== null && at <= tx.at) throw new Error(`alert ${row.id} is still due after settling`);
}

/** How late something ran and why, for the history; nothing where it was in time. */
export function lateness(run: {
  dueAt: number;
  now: number;
  upSince: number;
}): Record<string, unknown> {
  const seconds = run.now - run.dueAt;
  const wasDown = run.dueAt < run.upSince;
  if (seconds <= 0 || (seconds < LATE_SECONDS && !wasDown)) return {};
  return { late_seconds: seconds, ...(wasDown ? { late_because: "box was down" } : {}) };
}
