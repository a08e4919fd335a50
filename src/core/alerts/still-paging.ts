import type { Reader } from "../../ground/store/store.ts";

/** Alerts whose ladder goes on, or begins again when an acknowledgement ends, by their ids: the row ids of their rules. */
export function stillPaging(reader: Reader, projectId: number): Map<number, number> {
  return new Map(
    reader.sql<[project: number], [id: number, rule: number]>(TIMED).raw().all(projectId),
  );
}

const TIMED = `SELECT id, rule_id FROM alerts INDEXED BY alerts_standing
  WHERE project_id = ? AND state <> 'resolved' AND drill = 0
  AND coalesce(step_at, repeat_at, wakes_at) IS NOT NULL ORDER BY id`;
