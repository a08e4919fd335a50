import * as z from "zod";
import { isTimezone } from "../../core/oncall/zone.ts";
import { boolean, text } from "../../ground/kit/fields.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { tenantZone } from "../../people/reader-clock.ts";

/** TenantSettings of the tenant. */

const zoneName = text(64, 1).refine(isTimezone, {
  error: "must be a time zone's name, as Europe/Berlin",
});

export const settingsAnswer = z
  .object({
    numbers_open: z.boolean().meta({
      description: "Whether members see the figures of other people.",
    }),
    numbers_timezone: z.string().meta({
      description:
        "The zone in which days are counted. A new one counts from then on: earlier days stay.",
    }),
  })
  .meta({ id: "Settings" });
export type TenantSettings = z.output<typeof settingsAnswer>;

/** By whose clock a person's nights and messages go; null: by the tenant's. */
export const clockChange = z.strictObject({ timezone: zoneName.nullable() });

/** A field that is left out stays as it is. */
export const settingsChange = z.strictObject({
  numbers_open: boolean.optional(),
  numbers_timezone: zoneName.optional(),
});

export const readSettings = (reader: Reader): TenantSettings => ({
  numbers_open: getMeta(reader, "numbers_open") === 1,
  numbers_timezone: tenantZone(reader),
});

export function changeSettings(tx: Tx, change: z.output<typeof settingsChange>): TenantSettings {
  if (change.numbers_open !== undefined) setMeta(tx, "numbers_open", change.numbers_open ? 1 : 0);
  if (change.numbers_timezone !== undefined)
    setMeta(tx, "numbers_timezone", change.numbers_timezone);
  return readSettings(tx);
}
