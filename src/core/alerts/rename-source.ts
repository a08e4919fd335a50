import type { Tx } from "../../ground/store/store.ts";

const RENAME =
  "UPDATE alerts SET source = @to WHERE project_id = @projectId AND state <> 'resolved' AND source = @from";

/** A source has another name now: silences and filters go on finding its alerts that aren't over. */
export function renameSourceOfAlerts(
  tx: Tx,
  of: { projectId: number; from: string; to: string },
): void {
  tx.sql<[typeof of]>(RENAME).run(of);
}
