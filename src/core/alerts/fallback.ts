import { ServiceError } from "../../ground/kit/errors.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Fallback } from "../../out/contacts/contact.ts";
import { findContact } from "../../out/contacts/contacts.ts";
import { readFallback, writeFallback } from "../../out/contacts/notify.ts";
import { withdrawFrom } from "../../out/paging/lost.ts";
import type { StoredRule } from "../projects/rule.ts";
import { scheduleNamed } from "../projects/schedule-names.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { emit } from "./emit.ts";
import { hold, quietIn } from "./hold.ts";
import type { Climb } from "./ladder.ts";
import { fallbackPeople, isNobodyReached, NOWHERE, readFallbackPlaces } from "./nobody-reached.ts";
import { pagePeople, reachableIn } from "./personal.ts";
import { type Reach, storedSeats } from "./reach.ts";
import { findRule } from "./rule-of.ts";
import { calledOf } from "./said.ts";
import { writeLateTimeline, writeTimeline } from "./timeline.ts";

/** Where nobody on a whole ladder can be reached: who is paged then. */

/**
 * Pages the fallback where the ladder's top has run and nothing reaches anybody on any of its steps. Without contacts and
 * relay nothing is known of who can be reached, and nothing is done.
 */
export function fallBackIfNobody(
  tx: Tx,
  row: AlertRow,
  at: { rule: StoredRule; climbed: Climb; reach: Reach },
): AlertRow {
  const ladder = at.rule.escalations;
  const how = { climbed: at.climbed, reach: at.reach, reachable: reachableIn(tx) };
  if (!isNobodyReached(row, ladder, how)) return row;
  return pageFallback(tx, row, { rule: at.rule, why: "nobody_reachable" });
}

/** An escalation like any other, to the people whom the tenant named for this case; while it is quiet they are owed it. */
export function pageFallback(
  tx: Tx,
  row: AlertRow,
  { rule, why }: { rule: StoredRule | null; why: string },
): AlertRow {
  const accounts = fallbackPeople(readFallbackPlaces(tx), tx.at, storedSeats(tx));
  const reachable = reachableIn(tx);
  const of = { projectId: row.project_id, level: row.level };
  const reached = accounts.filter((account) => reachable.reaches(account, of));
  writeTimeline(tx, row.id, { kind: "fallback", detail: { why, accounts, reached } });
  if (accounts.length === 0) return row;
  const paged = change(tx, row, {
    page_accounts: JSON.stringify(accounts),
    updated_seq: takeSequence(tx, "updated_seq"),
  });
  const quiet = quietIn(tx, paged, rule);
  if (quiet !== null) return hold(tx, paged, { quiet, news: "page" });
  const people = accounts.map((account) => ({ name: calledOf(tx, account), why: "fallback" }));
  const eventRow = emit(tx, paged, {
    event: "alert.escalated",
    rule,
    said: () => ({
      paged: { people: people.slice(0, 10), more: Math.max(0, people.length - 10) },
      nobody: true,
    }),
  });
  pagePeople(tx, paged, { event: "alert.escalated", eventRow, accounts });
  return paged;
}

/** Throws 422 for an account or a schedule that isn't there. */
export function setFallback(tx: Tx, fallback: Fallback): Fallback {
  const details = fallback.schedules.flatMap((name, i) =>
    isThere(tx, name)
      ? []
      : [{ field: `/schedules/${i}`, reason: "unknown_schedule", value: name }],
  );
  if (details.length > 0)
    throw new ServiceError("unknown_schedule", "There is no such schedule.", { details });
  return writeFallback(tx, fallback);
}

const SCHEDULE = "SELECT 1 FROM schedules WHERE project_id = ? AND name = ?";

function isThere(tx: Tx, name: string): boolean {
  const place = scheduleNamed(tx, { projectId: NOWHERE, name });
  if (place === null) return false;
  return (
    tx.sql<[project: number, name: string]>(SCHEDULE).get(place.projectId, place.name) !== undefined
  );
}

/** What it names, `{project}/{schedule}` or any of `{project}/`, has another name now. */
export function renameInFallback(tx: Tx, change: { from: string; to: string }): void {
  const before = readFallback(tx);
  const schedules = before.schedules.map((name) =>
    isWithin(name, change.from) ? change.to + name.slice(change.from.length) : name,
  );
  if (String(schedules) !== String(before.schedules)) writeFallback(tx, { ...before, schedules });
}

/** Throws 409 where the fallback names this schedule, or one of this `{project}/`. */
export function mustBeNoFallback(tx: Tx, of: string): void {
  const naming = readFallback(tx).schedules.filter((name) => isWithin(name, of));
  if (naming.length === 0) return;
  throw new ServiceError(
    "schedule_in_use",
    `The fallback still names ${naming.join(", ")}: set another with box fallback set.`.slice(
      0,
      500,
    ),
    { details: naming.map((value) => ({ reason: "named_by_fallback", value })) },
  );
}

const isWithin = (name: string, of: string) =>
  of.endsWith("/") ? name.startsWith(of) : name === of;

/**
 * The pages of a rung all failed for good. Unless a phone of one of its people is paged beside them, the next rung runs at
 * once; at the top the fallback is paged, once for each alert, since its pages may fail as well.
 */
export function nobodyGotIt(tx: Tx, alertId: number): void {
  const found = tx.sql<[id: number]>("SELECT 1 FROM alerts WHERE id = ?").get(alertId);
  if (found === undefined) return;
  const row = getAlertRow(tx, alertId);
  if (row.state !== "open") return;
  const accounts = JSON.parse(row.page_accounts) as string[];
  // Only who wants every alert was pushed it: there is no ladder that could go on.
  if (accounts.length === 0) return;
  const { hasPhone } = reachableIn(tx);
  if (accounts.some((account) => hasPhone(account, row.project_id))) return;
  writeTimeline(tx, alertId, {
    kind: "unreachable",
    detail: { level: row.escalation_level, accounts, why: "pages_failed" },
  });
  if (row.step_at !== null) {
    if (row.step_at <= tx.at) return;
    change(tx, row, { step_at: tx.at, due_at: tx.at });
    tx.note({ topic: "due", at: tx.at });
    return;
  }
  const before = tx
    .sql<[id: number]>("SELECT 1 FROM timeline WHERE alert_id = ? AND kind = 'fallback' LIMIT 1")
    .get(alertId);
  if (before === undefined)
    pageFallback(tx, row, { rule: findRule(tx, row.rule_id), why: "pages_failed" });
}

/** A contact is about to be deleted, or was switched off: what waits for it is withdrawn, and said. */
export function loseContact(tx: Tx, id: string): void {
  const contact = findContact(tx, id);
  if (contact !== null)
    withdrawFrom(tx, { tell: writeLateTimeline, unreached: nobodyGotIt }, contact);
}
