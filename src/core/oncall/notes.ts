import { asc, eq } from "drizzle-orm";
import { oncallNotes } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** What people are told about shifts by their contacts: written with the change, sent after it, and then forgotten. */

/** For how long a contact that takes nothing is tried again, in seconds. */
const LATE = 3600;

export interface OnCallNote {
  id: number;
  accountId: string;
  title: string;
  lines: readonly string[];
  /** Where its link leads, below the box's address. */
  path: string;
  /** The ask whose link stands in its place; null: none. */
  askId: string | null;
  until: number;
}

export function writeNote(
  tx: Tx,
  {
    accountId,
    title,
    lines,
    path,
    askId = null,
  }: Omit<OnCallNote, "id" | "until" | "askId"> & { askId?: string | null },
): void {
  tx.orm
    .insert(oncallNotes)
    .values({ accountId, title, lines: [...lines], path, askId, until: tx.at + LATE })
    .run();
  tx.note({ topic: "oncall" });
}

/** Oldest first. */
export function waitingNotes(reader: Reader, most: number): OnCallNote[] {
  return reader.orm.select().from(oncallNotes).orderBy(asc(oncallNotes.id)).limit(most).all();
}

export function noteIsTold(tx: Tx, id: number): void {
  tx.orm.delete(oncallNotes).where(eq(oncallNotes.id, id)).run();
}
