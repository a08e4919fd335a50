import type { Tx } from "../../ground/store/store.ts";
import { beatOf, paceOf, timedHeartbeats, writeHeartbeatState } from "./rows.ts";
import { addRun, shiftRuns } from "./runs.ts";
import { afterDown, jumped } from "./state.ts";

/** Doesn't count the seconds in which the box was down, up to now, as lateness. */
export function forgiveHeartbeats(tx: Tx, seconds: number): void {
  for (const row of timedHeartbeats(tx)) {
    const { beat, lost } = afterDown(beatOf(row), paceOf(row), { seconds, at: tx.at });
    if (lost)
      addRun(tx, {
        id: row.id,
        rid: null,
        outcome: "unknown",
        started: null,
        ended: tx.at,
        exit: null,
        late: 0,
      });
    writeHeartbeatState(tx, row, beat, null);
  }
}

/** The wall clock jumped by `seconds`, forward or back, to `at`. */
export function shiftHeartbeats(tx: Tx, { seconds, at }: { seconds: number; at: number }): void {
  for (const row of timedHeartbeats(tx))
    writeHeartbeatState(tx, row, jumped(beatOf(row), paceOf(row), { seconds, at }), null);
  shiftRuns(tx, seconds);
}
