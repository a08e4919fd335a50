import * as z from "zod";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { text } from "../../ground/kit/fields.ts";
import type { Tx } from "../../ground/store/store.ts";
import { getAlertRow } from "./alert.ts";
import { noteAlert } from "./apply.ts";
import { writeTimeline } from "./timeline.ts";

export const noteWrite = z
  .strictObject({ text: text(4096, 1) })
  .meta({ id: "NoteWrite", examples: [{ text: "Provider confirms: back by 15:00." }] });

/** How long its author may change a note, in seconds. */
export const OPEN_SECONDS = 300;

const LAST = "SELECT max(id) FROM timeline WHERE alert_id = ?";
const WRITE = "UPDATE timeline SET detail = ? WHERE id = ? AND kind = 'noted'";

/** Adds a note to an alert's history; its id. Throws 404. */
export function addNote(
  tx: Tx,
  alertId: number,
  note: { accountId: string; text: string },
): string {
  const row = getAlertRow(tx, alertId);
  writeTimeline(tx, alertId, { kind: "noted", accountId: note.accountId });
  const id = tx.sql<[id: number], number>(LAST).pluck().get(alertId) ?? 0;
  writeNote(tx, id, note.text);
  noteAlert(tx, row);
  return String(id);
}

/** Changes a note, or takes its text away (null). Throws 404; 403 for another's; 409 note_closed after five minutes. */
export function changeNote(
  tx: Tx,
  { alertId, noteId, accountId }: { alertId: number; noteId: string; accountId: string },
  to: string | null,
): void {
  const row = getAlertRow(tx, alertId);
  const id = mustBeOwn(tx, { alertId, noteId, accountId });
  writeNote(tx, id, to);
  const kind = to === null ? "note_deleted" : "note_edited";
  writeTimeline(tx, alertId, { kind, accountId, detail: { note: noteId } });
  noteAlert(tx, row);
}

function writeNote(tx: Tx, id: number, words: string | null): void {
  const detail = { note: String(id), ...(words === null ? { deleted: true } : { text: words }) };
  tx.sql<[detail: string, id: number]>(WRITE).run(JSON.stringify(detail), id);
}

const FIND =
  "SELECT at, account_id, detail FROM timeline WHERE id = ? AND alert_id = ? AND kind = 'noted'";

function mustBeOwn(tx: Tx, of: { alertId: number; noteId: string; accountId: string }): number {
  const id = /^[1-9][0-9]{0,15}$/.test(of.noteId) ? Number(of.noteId) : 0;
  type Found = { at: number; account_id: string | null; detail: string };
  const found = tx.sql<[id: number, alert: number], Found>(FIND).get(id, of.alertId);
  if (found === undefined || (JSON.parse(found.detail) as { deleted?: true }).deleted)
    throw notFound("note");
  if (found.account_id !== of.accountId)
    throw new ServiceError("forbidden", "Only its author can change a note.");
  if (tx.at > found.at + OPEN_SECONDS)
    throw new ServiceError(
      "note_closed",
      "A note can be changed only in its first five minutes: add another note.",
    );
  return id;
}
