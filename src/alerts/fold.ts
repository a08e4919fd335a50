import type { Statement } from "../store/database.ts";
import type { Tx } from "../store/store.ts";

const FOLD = `UPDATE alerts SET level = ?, count = ?, last_seen = ?, last_message = ?, template = ?, updated_seq = ?, quiet_at = ?
  WHERE id = ? AND state <> 'resolved'`;

type Folded = [
  level: number,
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
