import type { Project } from "../core/projects/projects.ts";
import type { Source } from "../core/projects/sources.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { heartbeatEvent } from "../in/heartbeats/event.ts";
import type { HeartbeatAnswer } from "../in/heartbeats/heartbeat.ts";
import { deleteHeartbeat, getHeartbeat, toHeartbeat } from "../in/heartbeats/heartbeats.ts";
import { type HeartbeatRow, type Owed, paceOf } from "../in/heartbeats/rows.ts";
import { findHeartbeatSource, reportingSource } from "../in/heartbeats/source.ts";
import { type HeartbeatSignal, paused, resumed } from "../in/heartbeats/state.ts";
import type { Tenant } from "./tenant.ts";

type Parts = Pick<Tenant, "store" | "ingest" | "heartbeats">;

const owedAt = (row: HeartbeatRow, at: number, said: HeartbeatSignal): Owed => ({
  ...said,
  exit: row.exit_status,
  duration: row.last_duration,
  at,
  since: row.last_at,
});

/** The names of the rules that match the heartbeat's events now. */
export function takersOfHeartbeat(
  { store, ingest }: Pick<Parts, "store" | "ingest">,
  row: HeartbeatRow,
): string[] {
  const said = { action: "fire", reason: "missing", instance: null } as const;
  const event = heartbeatEvent(row, owedAt(row, unixSeconds(store.clock), said));
  const takers = (source: Source | null) => (source === null ? [] : ingest.takers(source, event));
  const usual = takers(findHeartbeatSource(store, row.project_id));
  return usual.length > 0 ? usual : takers(reportingSource(store, row));
}

/** A heartbeat, with the first rule that matches its events. */
export function readHeartbeat(
  parts: Pick<Parts, "store" | "ingest">,
  row: HeartbeatRow,
): HeartbeatAnswer {
  const [rule = null] = takersOfHeartbeat(parts, row);
  return toHeartbeat(row, rule, unixSeconds(parts.store.clock));
}

/** Deletes a heartbeat. The alert of a missing report ends first. Throws 404. */
export async function dropHeartbeat(
  { store, heartbeats }: Parts,
  project: Project,
  id: string,
): Promise<void> {
  const row = getHeartbeat(store, project, id);
  const said = { action: "resolve", reason: "deleted", instance: row.instance } as const;
  if (row.state === "down") await heartbeats.tell(row, owedAt(row, unixSeconds(store.clock), said));
  store.write((tx) => deleteHeartbeat(tx, project, id));
}

/** Starts or stops watching a heartbeat. The alert of a missing report ends. Throws 404. */
export async function watchHeartbeat(
  { store, heartbeats }: Parts,
  id: string,
  isWatched: boolean,
): Promise<void> {
  await heartbeats.change(
    id,
    (tx, beat, row) =>
      isWatched ? { beat: resumed(beat, paceOf(row), tx.at), said: null } : paused(beat),
    store,
  );
}
