import * as z from "zod";
import { liftSilence, makeSilence } from "../../core/alerts/silencing.ts";
import type { Project } from "../../core/projects/projects.ts";
import { standingSilences } from "../../core/quiet/rows.ts";
import { type SilenceBody, type SilenceRow, silenceWrite } from "../../core/quiet/silence.ts";
import { ownByFile } from "../../core/quiet/silences.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { text, time } from "../../ground/kit/fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { at } from "./pointer.ts";
import { readTime, writtenTime } from "./written-time.ts";

/** A project's repeating maintenance in a configuration, identified by its names. */

const { match, conditions, labels, critical, all, reason, timezone } = silenceWrite.shape;

const planned = z.strictObject({
  name: text(200, 1),
  match,
  conditions,
  labels,
  critical,
  all,
  reason,
  timezone,
  repeat: z.enum(["daily", "weekly"], { error: "must be daily or weekly" }),
});

/** The first window, and when the repetition ends. */
export const maintenanceConfig = planned.extend({
  starts_at: time,
  ends_at: time,
  repeat_until: time,
});
export type MaintenanceConfig = z.output<typeof maintenanceConfig>;

/** As `maintenanceConfig`, with times in its zone or as Unix seconds. */
export const fileMaintenance = planned
  .extend({ starts_at: writtenTime, ends_at: writtenTime, repeat_until: writtenTime })
  .transform((given, context): MaintenanceConfig => {
    const read = (name: "starts_at" | "ends_at" | "repeat_until") =>
      readTime(given[name], given.timezone, { context, path: [name] });
    const times = { starts_at: read("starts_at"), ends_at: read("ends_at") };
    return { ...given, ...times, repeat_until: read("repeat_until") };
  });

interface Standing {
  row: SilenceRow;
  config: MaintenanceConfig;
  isOwned: boolean;
}

/** The project's maintenance by name, without what is over. Where several have one name, the newest. */
export function standingMaintenance(reader: Reader, project: Project): Standing[] {
  const rows = standingSilences(reader, project.id, unixSeconds(reader.clock));
  const byName = new Map<string, Standing>();
  for (const row of rows) {
    const { kind, managed = false, ...body } = JSON.parse(row.body) as SilenceBody;
    const { repeats: repeat, starts_at, ends_at, over_at: repeat_until } = row;
    if (repeat === "none" || kind !== "maintenance" || body.name === "") continue;
    const config = maintenanceConfig.parse({ ...body, repeat, starts_at, ends_at, repeat_until });
    byName.set(body.name, { row, config, isOwned: managed });
  }
  return [...byName.values()].sort((a, b) => (a.config.name < b.config.name ? -1 : 1));
}

/**
 * Makes the project's maintenance equal to `wanted`. From then on it belongs to the configuration: what the
 * configuration no longer names ends, and other maintenance never does. A window that is over isn't made. Throws as
 * making a silence does.
 */
export function applyMaintenance(
  tx: Tx,
  project: Project,
  { wanted, createdBy }: { wanted: readonly MaintenanceConfig[]; createdBy: string },
): void {
  const present = new Map(standingMaintenance(tx, project).map((one) => [one.config.name, one]));
  for (const { row, config, isOwned } of present.values())
    if (isOwned && !wanted.some(({ name }) => name === config.name)) liftSilence(tx, row.id);
  for (const [i, config] of wanted.entries()) {
    const { repeat_until } = config;
    const there = present.get(config.name);
    if (there !== undefined && JSON.stringify(there.config) === JSON.stringify(config)) {
      if (!there.isOwned) ownByFile(tx, there.row);
      continue;
    }
    if (there !== undefined) liftSilence(tx, there.row.id);
    if (repeat_until <= tx.at) continue;
    const write = {
      ...config,
      project: project.name,
      kind: "maintenance" as const,
      tell_author: false,
    };
    at(`/config/maintenance/${i}`, () => ownByFile(tx, makeSilence(tx, { write, createdBy })));
  }
}
