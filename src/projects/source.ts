import { z } from "zod";
import { boolean, pathName } from "../kit/fields.ts";

/** A source: as it is written and read over the interface (contract §13, Source). */

export const sourceName = pathName(128);

/** The body that makes a source. */
export const sourceCreate = z.strictObject({ name: sourceName, retain_logs: boolean.optional() });

/** The body that changes one. */
export const sourceChange = z.strictObject({ retain_logs: boolean });

export const sourceAnswer = z
  .object({ created_at: z.int(), name: z.string(), retain_logs: z.boolean() })
  .meta({ id: "Source" });
export type SourceAnswer = z.output<typeof sourceAnswer>;

/** A source's name with its ingest token, which is only ever in this answer. */
export const sourceToken = z.object({
  name: z.string(),
  token: z.string().meta({ description: "Shown this once." }),
});
export type SourceToken = z.output<typeof sourceToken>;
