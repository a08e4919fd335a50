import { z } from "zod";
import type { Project } from "../../core/projects/projects.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { heartbeatName, heartbeatPace, heartbeatSlug } from "../../in/heartbeats/heartbeat.ts";
import {
  type Addresses,
  changeHeartbeat,
  createHeartbeat,
  deleteHeartbeat,
  watchedOf,
} from "../../in/heartbeats/heartbeats.ts";
import { projectHeartbeats } from "../../in/heartbeats/rows.ts";
import { at } from "./pointer.ts";

const { period_seconds, cron, timezone, grace_seconds, max_run_seconds, level, watch } =
  heartbeatPace;

/** A heartbeat in a configuration. Its addresses aren't part of it. */
export const heartbeatConfig = z.strictObject({
  name: heartbeatName,
  slug: heartbeatSlug.optional(),
  period_seconds,
  cron,
  timezone: timezone.default("UTC"),
  grace_seconds: grace_seconds.default(300),
  max_run_seconds: max_run_seconds.default(null),
  level: level.default(400),
  watch: watch.default(null),
});
export type HeartbeatConfig = z.output<typeof heartbeatConfig>;

/** Sorted by name. */
export function readHeartbeats(reader: Reader, project: Project): HeartbeatConfig[] {
  return projectHeartbeats(reader, project.id).map((row) => ({
    name: row.name,
    slug: row.slug,
    ...(row.period_seconds === null ? {} : { period_seconds: row.period_seconds }),
    ...(row.cron === null ? {} : { cron: row.cron }),
    timezone: row.timezone,
    grace_seconds: row.grace_seconds,
    max_run_seconds: row.max_run_seconds,
    level: row.level,
    watch: watchedOf(row),
  }));
}

/**
 * Makes the project's heartbeats equal to `wanted`. Returns the addresses of new ones. The alert of a heartbeat that is
 * deleted while it is down stays open.
 */
export function applyHeartbeats(
  tx: Tx,
  project: Project,
  { wanted, tenantId }: { wanted: readonly HeartbeatConfig[]; tenantId: string },
): (Addresses & { name: string })[] {
  const present = new Map(projectHeartbeats(tx, project.id).map(({ id, name }) => [name, id]));
  for (const [name, id] of present)
    if (!wanted.some((one) => one.name === name)) deleteHeartbeat(tx, project, id);
  return wanted.flatMap((body, i) =>
    at(`/config/heartbeats/${i}`, () => {
      const id = present.get(body.name);
      if (id === undefined) {
        const { addresses } = createHeartbeat(tx, project, { tenantId, body });
        return [{ name: body.name, ...addresses }];
      }
      changeHeartbeat(tx, project, { id, body });
      return [];
    }),
  );
}
