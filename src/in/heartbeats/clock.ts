import type { Log } from "../../ground/kit/log.ts";
import type { Tx } from "../../ground/store/store.ts";
import { beatOf, type HeartbeatRow, paceOf, timedHeartbeats, writeHeartbeatState } from "./rows.ts";
import { addRun, shiftRuns } from "./runs.ts";
import { afterDown, type HeartbeatPace, type HeartbeatState, jumped } from "./state.ts";

/** Doesn't count the seconds in which the box was down, up to now, as lateness. */
export function forgiveHeartbeats(tx: Tx, seconds: number, log: Log): void {
  const after = (beat: HeartbeatState, pace: HeartbeatPace) =>
    afterDown(beat, pace, { seconds, at: tx.at });
  for (const [row, { beat, lost }] of eachTimed(tx, log, after)) {
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
export function shiftHeartbeats(tx: Tx, by: { seconds: number; at: number }, log: Log): void {
  for (const [row, beat] of eachTimed(tx, log, (old, pace) => jumped(old, pace, by)))
    writeHeartbeatState(tx, row, beat, null);
  shiftRuns(tx, by.seconds);
}

/** What each becomes. One that this can't be worked out for keeps its times, and nothing else waits for it. */
function eachTimed<T>(
  tx: Tx,
  log: Log,
  next: (beat: HeartbeatState, pace: HeartbeatPace) => T,
): [HeartbeatRow, T][] {
  return timedHeartbeats(tx).flatMap((row): [HeartbeatRow, T][] => {
    try {
      return [[row, next(beatOf(row), paceOf(row))]];
    } catch (err) {
      log.error({ err, heartbeat: row.id }, "a heartbeat's times could not be adjusted");
      return [];
    }
  });
}
