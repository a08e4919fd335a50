import * as z from "zod";
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
import { importedFrom } from "./imported.ts";
import { at } from "./pointer.ts";

/** A systemd timer's times are kept as `cron`. */
const { oncalendar: _read, ...pace } = heartbeatPace;

/** A heartbeat in a configuration. Its addresses aren't part of it. */
export const heartbeatConfig = z.strictObject({
  name: heartbeatName,
  slug: heartbeatSlug.optional(),
  ...pace,
  timezone: pace.timezone.default("UTC"),
  grace_seconds: pace.grace_seconds.default(300),
  max_run_seconds: pace.max_run_seconds.default(null),
  level: pace.level.default(400),
  watch: pace.watch.default(null),
  imported_from: importedFrom,
});
type HeartbeatConfig = z.output<typeof heartbeatConfig>;

/** Of a row, the fields that a configuration has. */
const configOf = z.object(heartbeatConfig.shape);

/** Sorted by name. */
export function readHeartbeats(reader: Reader, project: Project): HeartbeatConfig[] {
  return projectHeartbeats(reader, project.id).map(({ period_seconds, cron, ...row }) =>
    configOf.parse({
      ...row,
      ...(period_seconds === null ? {} : { period_seconds }),
      ...(cron === null ? {} : { cron }),
      watch: watchedOf(row),
    }),
  );
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
  return wanted.flatMap(({ imported_from: _from, ...body }, i) =>
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
