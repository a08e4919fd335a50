import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Fallback } from "../../out/contacts/contact.ts";
import type { ContactRow } from "../../out/contacts/contacts.ts";
import { readFallback, writeFallback } from "../../out/contacts/notify.ts";
import { pushesAtStake } from "../../out/outbox/relay.ts";
import { withdrawFrom } from "../../out/paging/lost.ts";
import { anyHope } from "../../out/paging/pages.ts";
import { scheduleNamed } from "../projects/schedule-names.ts";
import { getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";
import { NOWHERE } from "./nobody-reached.ts";
import { forgetReachable, reachableIn } from "./personal.ts";
import { writeLateTimeline } from "./timeline.ts";

/** Who is paged where nobody on a whole ladder can be reached, and what becomes of pages that fail. */

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
  happen(tx, row, { what: "pages_failed" });
}

const THEIRS = `SELECT id FROM alerts INDEXED BY alerts_standing
  WHERE state <> 'resolved' AND (acked_by = :account OR instr(page_accounts, '"' || :account || '"') > 0) ORDER BY id`;

/**
 * An account was removed: no alert that stands is theirs any more. What they had acknowledged is open again, and what had
 * paged nobody else pages others now.
 */
export function losePerson(tx: Tx, account: string): void {
  for (const id of tx.sql<[{ account: string }], number>(THEIRS).pluck().all({ account }))
    happen(tx, getAlertRow(tx, id), { what: "left", account });
}

/** A contact was deleted, or switched off: what waits for it is withdrawn, and said. */
export function loseContact(tx: Tx, contact: ContactRow): void {
  withdrawFrom(tx, { tell: writeLateTimeline, unreached: nobodyGotIt }, contact);
}

/** The relay is removed, or a channel was switched off: where nothing else of an alert is on its way, others are paged. */
export function losePushes<Told>(tx: Tx, lose: () => Told): Told {
  const atStake = pushesAtStake(tx);
  const told = lose();
  forgetReachable(tx);
  if (!reachableIn(tx).isKnown) return told;
  for (const one of atStake) if (!anyHope(tx, one)) nobodyGotIt(tx, one.alertId);
  return told;
}
