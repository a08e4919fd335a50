import { isTimezone } from "../core/oncall/zone.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Reader } from "../ground/store/store.ts";
import type { Job } from "./scheduler.ts";

const ZONED = `SELECT timezone, 'schedule ' || p.name || ' / ' || s.name FROM schedules s JOIN projects p ON p.id = s.project_id
  UNION ALL
  SELECT timezone, 'heartbeat ' || p.name || ' / ' || h.name FROM heartbeats h JOIN projects p ON p.id = h.project_id
  WHERE cron IS NOT NULL
  UNION ALL
  SELECT body ->> '$.timezone', 'silence ' || id FROM silences WHERE repeats <> 'none' AND over_at > ?`;

/** What goes by a zone that this program doesn't know, though another did, by zone. */
export function lostZones(reader: Reader, now: number): Map<string, string[]> {
  const all = reader.sql<[now: number], [zone: string, what: string]>(ZONED).raw().all(now);
  const zones = Map.groupBy(all as [string, string][], ([zone]) => zone);
  return new Map(
    [...zones]
      .filter(([zone]) => !isTimezone(zone))
      .map(([zone, found]) => [zone, found.map(([, what]) => what)]),
  );
}

/** Says after a start what the doctor says, too. */
export function zonesJob({ store, log }: { store: Reader; log: Log }): Job {
  return {
    name: "zones",
    run(now) {
      for (const [zone, used] of lostZones(store, now))
        log.warn({ zone, used: used.slice(0, 10) }, LOST);
      return null;
    },
  };
}

export const LOST =
  "an unknown time zone: schedules and heartbeats in it go by UTC, silences that repeat in it don't hold";
