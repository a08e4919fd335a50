import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type ContactRow, contactsOfKind, openContact } from "../contacts/contacts.ts";
import { CAPABILITY_SECONDS } from "./capability.ts";
import { readHandle } from "./message-name.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** Who texts, and which page it answers: a number is all that a text has. */

/** The verified contact that is this number, exactly; `several` where people share it, null where it is nobody's. */
export function contactOfNumber(
  reader: Reader,
  sealer: Sealer,
  number: string,
): ContactRow | "several" | null {
  const found = contactsOfKind(reader, "sms").filter(
    (row) =>
      (row.state === "verified" || row.state === "failing") &&
      openContact(sealer, row)?.["address"] === number,
  );
  const [first, ...others] = found;
  return others.length > 0 ? "several" : (first ?? null);
}

/** The page that a text answers. `alertId`: only this one of those that its message named. */
type Texted =
  | { kind: "page"; handle: string; alertId?: number }
  /** Which of these isn't said. */
  | { kind: "which"; alertIds: number[] }
  | { kind: "none" };

interface Sent {
  id: number;
  lead: number;
  handle: string;
  alertId: number;
  state: string;
}

const SENT = `SELECT p.id, coalesce(p.sent_with, p.id) AS lead, p.handle, p.alert_id AS alertId, a.state
  FROM pages p JOIN alerts a ON a.id = p.alert_id
  WHERE p.finished_at > ? AND p.contact_id = ? AND p.status = 'delivered' AND p.event IN ${PAGE_EVENTS} ORDER BY p.id`;

/**
 * Finds what a text means among what was sent to the contact within the day. `which`: an alert's number, a handle in lower
 * case, or nothing: what is still to be taken, where that is one message.
 */
export function pageTexted(
  reader: Reader,
  now: number,
  { contactId, which, verb }: { contactId: string; which: string; verb: string },
): Texted {
  const sent = reader
    .sql<[since: number, contactId: string], Sent>(SENT)
    .all(now - CAPABILITY_SECONDS, contactId);
  if (which === "") return theOnly(sent, verb);
  const { handle } = readHandle(which);
  if (sent.some((row) => row.handle === handle)) return { kind: "page", handle: which };
  const byNumber = sent.findLast(({ alertId }) => String(alertId) === which);
  if (byNumber === undefined) return { kind: "none" };
  return { kind: "page", handle: byNumber.handle, alertId: byNumber.alertId };
}

function theOnly(sent: readonly Sent[], verb: string): Texted {
  const left = sent.filter(({ state }) =>
    verb === "resolve" ? state !== "resolved" : state === "open",
  );
  // Who has it by now is an answer, too.
  const asked = left.length === 0 ? sent.slice(-1) : left;
  const leads = new Set(asked.map(({ lead }) => lead));
  const first = sent.find(({ id }) => leads.has(id)) ?? asked[0];
  if (first === undefined) return { kind: "none" };
  if (leads.size === 1) return { kind: "page", handle: first.handle };
  const alertIds = [...new Set(asked.map(({ alertId }) => alertId))];
  const [alertId = 0, ...others] = alertIds;
  // Told of it more than once.
  if (others.length === 0) return { kind: "page", handle: asked.at(-1)?.handle ?? "", alertId };
  return { kind: "which", alertIds };
}
