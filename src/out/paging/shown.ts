import { sameSecret } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type ContactRow, findContact } from "../contacts/contacts.ts";
import { markShown } from "../contacts/health.ts";
import { CAPABILITY_SECONDS } from "./capability.ts";
import { type PageOutcomes, wayOf } from "./lost.ts";
import { type MessageName, namedIn } from "./message-name.ts";
import { isPage } from "./page.ts";

/** What stands for having shown one message to one contact: a device gives it back without being signed in. */
interface ShownRight {
  tenantId: string;
  contactId: string;
  /** null: a test, which names no row. */
  name: MessageName | null;
  until: number;
}

const PURPOSE = "receipt";

const signed = ({ tenantId, contactId, name, until }: ShownRight): string =>
  JSON.stringify([tenantId, contactId, name?.lead ?? null, name?.sum ?? null, until]);

/** `{tenant}{contact}-{row}.{sum}-{until}-{signature}`. It opens nothing else: it only says that something was shown. */
export function receiptOf(sealer: Sealer, right: ShownRight): string {
  const { tenantId, contactId, name, until } = right;
  const [signature] = sealer.macs(PURPOSE, signed(right));
  const of = name === null ? "0" : `${name.lead.toString(36)}.${name.sum}`;
  return `${tenantId}${contactId}-${of}-${until.toString(36)}-${signature}`;
}

const RECEIPT =
  /^([0-9a-f]{16})([0-9a-f]{16})-(?:0|([0-9a-z]{1,11})\.([0-9a-z]{4}))-([0-9a-z]{1,8})-([\w-]{22})$/;

/** What a receipt says, where it was given out and its day isn't over; null for any other text. `now`: Unix seconds. */
export function readShown(sealer: Sealer, text: string, now: number): ShownRight | null {
  const [, tenantId = "", contactId = "", row36 = "", sum, until36 = "", given = ""] =
    RECEIPT.exec(text) ?? [];
  const [lead = 0, until = 0] = [row36, until36].map((digits) => Number.parseInt(digits, 36));
  const right = { tenantId, contactId, name: sum === undefined ? null : { lead, sum }, until };
  const macs = sealer.macs(PURPOSE, signed(right));
  const isOurs = macs.map((mac) => sameSecret(mac, given)).includes(true) && tenantId !== "";
  return isOurs && until > now ? right : null;
}

/** What was shown went out, however its attempt ended; only what was withdrawn stays so until that says itself. */
const SHOWN = `UPDATE pages SET shown_at = @at, outcome = iif(outcome IS 'answered', outcome, 'shown'),
    finished_at = coalesce(finished_at, @at), next_attempt_ms = iif(status = 'pending', NULL, next_attempt_ms),
    status = iif(status IN ('pending', 'failed'), 'delivered', status)
  WHERE id = @id AND shown_at IS NULL
  RETURNING id, alert_id AS alertId, event, event_row AS rung`;
const TRIED = `SELECT id, status FROM pages WHERE id = @lead AND contact_id = @contactId
  UNION SELECT id, status FROM pages WHERE sent_with = @lead AND contact_id = @contactId`;

/** The rows that the message named: what was taken by somebody since was in it, or isn't any more. */
function rowsOf(tx: Tx, name: MessageName, contactId: string): readonly { id: number }[] {
  const tried = tx
    .sql<{ lead: number; contactId: string }, { id: number; status: string }>(TRIED)
    .all({ lead: name.lead, contactId });
  const named = namedIn(tried, name);
  if (named.length === tried.length) return named;
  const standing = tried.filter(({ status }) => status !== "withdrawn");
  return namedIn(standing, name);
}

const SHIFT = "SELECT shift_check FROM pages WHERE id = ?";

/** Who has shown something. */
interface Shower {
  account: string;
  /** The shift that it said the beginning of; null: it was about something else. */
  shift: number | null;
}

interface ShownPage {
  id: number;
  alertId: number;
  event: string;
  rung: number;
}

/**
 * Writes that a device showed a message: all rows that it named, their alerts' histories, the contact's health. Whose device
 * it is; null where the contact is gone.
 */
export function takeShown(
  tx: Tx,
  telling: Pick<PageOutcomes, "tell">,
  right: ShownRight,
): Shower | null {
  const { contactId, name, until } = right;
  const contact = findContact(tx, contactId);
  if (contact === null) return null;
  const after = Math.max(0, tx.at - (until - CAPABILITY_SECONDS));
  if (name === null) {
    markShown(tx, contact, after);
    return { account: contact.accountId, shift: null };
  }
  const rows = rowsOf(tx, name, contactId).flatMap(({ id }) =>
    tx.sql<{ at: number; id: number }, ShownPage>(SHOWN).all({ at: tx.at, id }),
  );
  if (rows.length > 0) markShown(tx, contact, after);
  tellShown(tx, telling, { contact, rows, detail: { after } });
  const shift = tx.sql<[row: number], number | null>(SHIFT).pluck().get(name.lead) ?? null;
  return { account: contact.accountId, shift };
}

const WAS_SHOWN = "SELECT shown_at FROM pages WHERE id = ?";
const WITH_IT = `UPDATE pages SET shown_at = @at, outcome = iif(outcome IS 'answered', outcome, 'shown')
  WHERE sent_with = @row AND shown_at IS NULL RETURNING id, alert_id AS alertId, event, event_row AS rung`;

/** A device may say so before the attempt has ended: then the rows that went with `lead` are known only now. */
export function shareShown(
  tx: Tx,
  telling: Pick<PageOutcomes, "tell">,
  { contact, lead }: { contact: ContactRow; lead: number },
): void {
  const at = tx.sql<[id: number], number | null>(WAS_SHOWN).pluck().get(lead) ?? null;
  if (at === null) return;
  const rows = tx.sql<{ at: number; row: number }, ShownPage>(WITH_IT).all({ at, row: lead });
  tellShown(tx, telling, { contact, rows, detail: {} });
}

function tellShown(
  tx: Tx,
  { tell }: Pick<PageOutcomes, "tell">,
  shown: { contact: ContactRow; rows: readonly ShownPage[]; detail: Record<string, unknown> },
): void {
  for (const { alertId, event, rung } of shown.rows.filter(isPage)) {
    tell(tx, alertId, {
      kind: "shown",
      detail: { ...wayOf(shown.contact), event, rung, ...shown.detail },
    });
    tx.note({ topic: "written", kind: "alert", id: String(alertId), name: "", project: null });
  }
}
