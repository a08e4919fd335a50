import type { Statement } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";

const FOLD = `UPDATE alerts SET count = ?, last_seen = ?, last_message = ?, template = ?, updated_seq = ?, quiet_at = ?
  WHERE id = ? AND state <> 'resolved'`;

type Folded = [
  count: number,
  lastSeen: number,
  lastMessage: string,
  template: string,
  updatedSeq: number,
  quietAt: number | null,
  id: number,
];

/** What writes a batch's matches into alerts that stand; it changes no row of one that was resolved. */
export function foldStatement(tx: Tx): Statement<Folded> {
  return tx.sql<Folded>(FOLD);
}

const WORSEN = "UPDATE alerts SET level = ? WHERE id = ? AND state <> 'resolved'";

/** What raises a standing alert's level. By itself: lists are in order of it, and it seldom changes. */
export function worsenStatement(tx: Tx): Statement<[level: number, id: number]> {
  return tx.sql<[level: number, id: number]>(WORSEN);
}
