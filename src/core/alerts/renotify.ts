import type { Tx } from "../../ground/store/store.ts";
import { makePages, type PagedPerson } from "../../out/paging/pages.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { emit } from "./emit.ts";
import { hold, quietIn } from "./hold.ts";
import { lookAgainAt } from "./look-again.ts";
import { pageFollowers, pagePeople } from "./personal.ts";
import { findRule } from "./rule-of.ts";
import { nextSaid, pagedSoFar } from "./said.ts";
import { writeTimeline } from "./timeline.ts";
import { timersOf } from "./timers.ts";

/**
 * Says again that an open alert is open, for a new burst of matches (contract §5, dedup_window_minutes).
 * `max_renotify` bounds the repeats of `renotify_minutes` and not these.
 */
export function renotifyBurst(tx: Tx, id: number): void {
  const row = getAlertRow(tx, id);
  if (row.state !== "open") return;
  const rule = findRule(tx, row.rule_id);
  const quiet = quietIn(tx, row, rule);
  if (quiet !== null) hold(tx, row, { quiet, news: "renotify" });
  else if (row.silenced_by !== null) tellWithHeld(tx, row);
  else renotify(tx, row, { rule, detail: { why: "burst" } });
}

/** It is quiet no more and hasn't been looked at: this is told at once with what was held, in that order. */
export function tellWithHeld(tx: Tx, row: AlertRow): void {
  const isOwed = row.untold === 0;
  const renotify_at = isOwed ? Math.min(row.renotify_at ?? tx.at, tx.at) : row.renotify_at;
  lookAgainAt(tx, change(tx, row, { renotify_at }));
}

/** Tells of an alert that is open again; where nobody heard of its opening, of that. */
export function tellAgain(
  tx: Tx,
  row: AlertRow,
  told: { rule: StoredRule | null; detail: Record<string, unknown> },
): AlertRow {
  if (row.untold === 0) {
    renotify(tx, row, told);
    return row;
  }
  const open = change(tx, row, { untold: 0 });
  emitOpened(tx, open, told);
  return open;
}

/** `alert.opened`, with whom the ladder pages next. `silenced`: since when nobody was told of it, Unix seconds. */
export function emitOpened(
  tx: Tx,
  row: AlertRow,
  told: { rule: StoredRule | null; silenced?: number },
): void {
  const { rule, silenced } = told;
  const eventRow = emit(tx, row, {
    event: "alert.opened",
    rule,
    said: () => ({
      ...(rule === null ? {} : nextSaid(tx, row, { rule, timers: timersOf(row) })),
      ...(silenced !== undefined && { silenced }),
    }),
  });
  pageFollowers(tx, row, { event: "alert.opened", eventRow, rule });
}

/**
 * Says again that the open alert `row` is open. `detail` says why, in the history; `people`: who is paged in place of those
 * whom it paged last.
 */
export function renotify(
  tx: Tx,
  row: AlertRow,
  {
    rule,
    detail,
    people,
  }: {
    rule: StoredRule | null;
    detail: Record<string, unknown>;
    people?: readonly PagedPerson[];
  },
): void {
  writeTimeline(tx, row.id, { kind: "renotified", detail });
  const eventRow = emit(tx, row, {
    event: "alert.renotified",
    rule,
    said: () => ({
      told: pagedSoFar(tx, row),
      ...(rule !== null && nextSaid(tx, row, { rule, timers: timersOf(row) })),
      ...(detail["why"] === "reopened" && { again: true as const }),
    }),
  });
  if (people !== undefined) {
    makePages(tx, { event: "alert.renotified", eventRow, alertId: row.id }, people);
    return;
  }
  const accounts = JSON.parse(row.page_accounts) as string[];
  pagePeople(tx, row, { event: "alert.renotified", eventRow, accounts });
  pageFollowers(tx, row, { event: "alert.renotified", eventRow, rule });
}
