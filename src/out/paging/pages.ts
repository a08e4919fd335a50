import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Way } from "../contacts/notify.ts";
import { HANDLE_LENGTH, lettersOf } from "./message-name.ts";

/** Rows of personal pages: one for each alert and contact, made in the transaction of the rung. */

/**
 * The events that page people: of an opening those who want every alert of a project without a ladder. The others tell them
 * what became of it.
 */
export const PAGE_EVENTS = "('alert.escalated', 'alert.renotified', 'alert.opened')";

const INSERT = `INSERT INTO pages (contact_id, account_id, alert_id, event_row, event, handle, status, due_ms, next_attempt_ms, ref, created_at, shift_check)
  VALUES (@contactId, @account, @alertId, @eventRow, @event, @handle, 'pending', @due, @due, @ref, @at, @check)`;

/** What a row says that is about a shift and no alert. */
const SHIFT_BEGAN = "shift.began";

/** Whom to page for one event of an alert. */
export interface PagedPerson {
  account: string;
  ways: readonly Way[];
}

/** Makes a row for each contact, due when the person's rules want it. Returns how many. */
export function makePages(
  tx: Tx,
  event: { alertId: number; eventRow: number; event: string },
  people: readonly PagedPerson[],
): number {
  let made = 0;
  const now = tx.clock.now();
  for (const { account, ways } of people)
    for (const { contactId, after } of ways) {
      const due = now + after * 1000;
      insert(tx, { ...event, contactId, account, due, ref: null });
      made += 1;
    }
  return made;
}

/** Makes a push for each of these devices that says that a shift begins; `check` says which. */
export function makeShiftPages(
  tx: Tx,
  shift: { check: number; account: string; devices: readonly string[] },
): void {
  const { check, account, devices } = shift;
  const none = { alertId: 0, eventRow: 0, event: SHIFT_BEGAN, ref: null };
  for (const contactId of devices)
    insert(tx, { ...none, contactId, account, due: tx.clock.now(), check });
}

function insert(
  tx: Tx,
  row: {
    contactId: string;
    account: string;
    alertId: number;
    eventRow: number;
    event: string;
    due: number;
    ref: string | null;
    check?: number;
  },
): void {
  const handle = lettersOf(tx.random.bytes(HANDLE_LENGTH));
  tx.sql<[object]>(INSERT).run({ check: null, ...row, handle, at: tx.at });
  tx.note({ topic: "contact", id: row.contactId });
}

const WITHDRAW = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ?
  WHERE alert_id = ? AND status = 'pending'`;

/** Withdraws what hasn't gone, because somebody has the alert or it is over. Returns how many pages that were. */
export function withdrawPersonal(tx: Tx, alertId: number): number {
  return tx.sql<[at: number, alertId: number]>(WITHDRAW).run(tx.at, alertId).changes;
}

const WITHDRAW_ONE = `${WITHDRAW} AND contact_id = ? AND event IN ${PAGE_EVENTS}`;

/** The same for one contact, which is told sooner. */
export function withdrawFromContact(
  tx: Tx,
  { alertId, contactId }: { alertId: number; contactId: string },
): void {
  tx.sql<[at: number, alertId: number, contactId: string]>(WITHDRAW_ONE).run(
    tx.at,
    alertId,
    contactId,
  );
}

const WAITING = `SELECT contact_id AS contactId, account_id AS account, (next_attempt_ms + 999) / 1000 AS at FROM pages
  WHERE alert_id = ? AND status = 'pending' AND event IN ${PAGE_EVENTS}`;

/** Pages of an alert that haven't gone, and when each is tried next, Unix seconds. */
export function waitingPages(
  reader: Reader,
  alertId: number,
): { contactId: string; account: string; at: number }[] {
  return reader
    .sql<[alertId: number], { contactId: string; account: string; at: number }>(WAITING)
    .all(alertId);
}

const OF_PROJECT = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ? WHERE status = 'pending'
  AND EXISTS (SELECT 1 FROM events v WHERE v.id = pages.event_row AND v.project_id = ?)`;

/** Withdraws all that waits for a project's alerts, which are about to go with it. */
export function withdrawOfProject(tx: Tx, projectId: number): void {
  tx.sql<[at: number, projectId: number]>(OF_PROJECT).run(tx.at, projectId);
}

const INHERIT = `UPDATE pages SET contact_id = @to,
    next_attempt_ms = iif(status = 'pending', max(due_ms, @now), next_attempt_ms) WHERE contact_id = @from`;

/** One contact of a person takes another's place: it has that one's pages, and what waits is tried there at once. */
export function inheritPages(tx: Tx, { from, to }: { from: string; to: string }): void {
  tx.sql<{ from: string; to: string; now: number }>(INHERIT).run({
    from,
    to,
    now: tx.clock.now(),
  });
  tx.note({ topic: "contact", id: to });
}

const OUTDATED = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ?
  WHERE alert_id = ? AND status = 'pending' AND event NOT IN ${PAGE_EVENTS}`;

/** Withdraws notes that say how an alert ended or who has it: it is open again. */
export function withdrawNotes(tx: Tx, alertId: number): void {
  tx.sql<[at: number, alertId: number]>(OUTDATED).run(tx.at, alertId);
}

/** A message that names an alert which still wants somebody stays as it is: of this one another message tells. */
const IS_NEEDED = `EXISTS (SELECT 1 FROM (
    SELECT alert_id FROM pages WHERE sent_with = coalesce(p.sent_with, p.id)
    UNION ALL SELECT alert_id FROM pages WHERE id = p.sent_with) o
  JOIN alerts a ON a.id = o.alert_id WHERE o.alert_id <> p.alert_id AND a.state = 'open')`;
const TOLD = `SELECT contact_id AS contactId, account_id AS account, max(id) AS id, iif(${IS_NEEDED}, NULL, ref) AS ref
  FROM pages p WHERE alert_id = ? AND status = 'delivered' AND event IN ${PAGE_EVENTS} GROUP BY contact_id`;

/**
 * Makes a note for each contact that was told of the alert: somebody has it, or it is over. `wanted`: whether the contact's
 * kind takes such notes, and whether it says them in place of the message; null: to this one nothing is sent.
 */
export function makeNotes(
  tx: Tx,
  event: { alertId: number; eventRow: number; event: string },
  wanted: (contactId: string) => { edits: boolean } | null,
): number {
  let made = 0;
  for (const told of tx
    .sql<[alertId: number], { contactId: string; account: string; ref: string | null }>(TOLD)
    .all(event.alertId)) {
    const { contactId, account } = told;
    const want = wanted(contactId);
    if (want === null) continue;
    const ref = want.edits ? told.ref : null;
    insert(tx, { ...event, contactId, account, ref, due: tx.clock.now() });
    made += 1;
  }
  return made;
}

const NEWS = `SELECT v.id AS eventRow, v.event FROM events v JOIN alerts a ON a.id = v.alert_id AND a.state <> 'open'
  WHERE v.alert_id = ? AND v.event IN ('alert.acknowledged', 'alert.resolved') ORDER BY v.id DESC LIMIT 1`;

/** The same for one contact whose page went out while somebody took the alert, or it ended. */
export function makeLateNote(
  tx: Tx,
  told: { alertId: number; contactId: string; edits: boolean },
): void {
  const { alertId, contactId, edits } = told;
  const news = tx.sql<[alertId: number], { eventRow: number; event: string }>(NEWS).get(alertId);
  if (news !== undefined)
    makeNotes(tx, { alertId, ...news }, (id) => (id === contactId ? { edits } : null));
}

const HAND_OVER = "UPDATE pages SET alert_id = ? WHERE alert_id = ? AND status = 'pending'";

/** Moves the pages of an alert that weren't sent yet to another alert: they are sent, and withdrawn with that one. */
export function handOverPersonal(tx: Tx, { from, to }: { from: number; to: number }): void {
  tx.sql<[to: number, from: number]>(HAND_OVER).run(to, from);
}

/** Whether a page of this alert got through since an event of this row, or is on its way by a gateway that isn't refused. */
export function anyHope(tx: Tx, { alertId, since }: { alertId: number; since: number }): boolean {
  const found = tx
    .sql<[alertId: number, since: number]>(
      `SELECT 1 FROM pages WHERE alert_id = ? AND event_row >= ? AND event IN ${PAGE_EVENTS}
         AND (status = 'delivered' OR (status = 'pending' AND outcome IS NOT 'refused')) LIMIT 1`,
    )
    .get(alertId, since);
  return found !== undefined;
}

const FORGET = "DELETE FROM pages WHERE alert_id = ?";

/** Deletes an alert's pages, with the alert itself. */
export function forgetPages(tx: Tx, alertId: number): void {
  tx.sql<[alertId: number]>(FORGET).run(alertId);
}

const SWEEP = `DELETE FROM pages WHERE id IN
  (SELECT id FROM pages WHERE finished_at IS NOT NULL AND finished_at < @before LIMIT @most)`;

/** Deletes pages that ended before `before`. Returns whether there may be more. */
export function sweepPages(tx: Tx, slice: { before: number; most: number }): boolean {
  return tx.sql<{ before: number; most: number }>(SWEEP).run(slice).changes === slice.most;
}

const SHIFT = `UPDATE pages SET next_attempt_ms = next_attempt_ms + ?, due_ms = due_ms + ?, created_at = created_at + ?
  WHERE status = 'pending'`;
const REST = "UPDATE contacts SET sent_ms = sent_ms + ? WHERE sent_ms IS NOT NULL";

/** Moves what waits by a jump of the clock (milliseconds, either way). */
export function shiftPages(tx: Tx, ms: number): void {
  const by = Math.round(ms);
  tx.sql<[number, number, number]>(SHIFT).run(by, by, Math.round(ms / 1000));
  tx.sql<[number]>(REST).run(by);
  tx.note({ topic: "outbox" });
}

const FORGIVE =
  "UPDATE pages SET due_ms = min(due_ms + ?, ?) WHERE status = 'pending' AND due_ms < ?";

/** Takes the seconds before this start out of the age of what waits: nothing could be tried in them. */
export function forgivePages(tx: Tx, seconds: number): void {
  const now = tx.clock.now();
  tx.sql<[number, number, number]>(FORGIVE).run(seconds * 1000, now, now);
}

/** When the next page of a contact that is on wants to go, in Unix milliseconds; null: none waits. */
export function nextPage(reader: Reader): number | null {
  return (
    reader
      .sql<[], number | null>(
        `SELECT min(p.next_attempt_ms) FROM pages p JOIN contacts c ON c.id = p.contact_id AND c.state <> 'off'
         WHERE p.status = 'pending'`,
      )
      .pluck()
      .get() ?? null
  );
}
