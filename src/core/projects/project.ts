import * as z from "zod";
import { integer, pathName } from "../../ground/kit/fields.ts";

/** A project: as it is written and read over the interface (contract §15, Projects). */

export const projectName = pathName(128);

/** The body that makes a project or renames one. */
export const projectWrite = z.strictObject({ name: projectName });

/** The body that changes its settings; what is left out stays. */
export const projectPatch = z.strictObject({
  default_ladder: pathName(200)
    .nullable()
    .optional()
    .describe(
      "Name of a ladder of the tenant. Rules that the box writes for you use it (when you connect a sender, or make a rule from a log line). Null: none.",
    ),
});

export const projectMade = z.object({ name: z.string(), version: integer(1) });

/** A project in the index. */
export const projectEntry = z
  .object({
    name: z.string(),
    version: z.int(),
    source_count: z.int(),
    rule_count: z.int(),
    open_alert_count: z.int(),
    created_at: z.int(),
    default_ladder: z.string().nullable().meta({
      description: "Name of the ladder that rules written by the box for you use; null: none.",
    }),
  })
  .meta({ id: "ProjectEntry" });
export type ProjectEntry = z.output<typeof projectEntry>;

/** A project's configuration version, as pulls carry it. */
export const configVersion = z.object({ project: z.string(), version: z.int() });
export type ConfigVersion = z.output<typeof configVersion>;
