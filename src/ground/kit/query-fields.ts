import * as z from "zod";
import { madeOnce } from "./made-once.ts";

/** What only the queries of requests have, beside the fields of the nouns (fields.ts). */

/** An integer in a query: no sign, no leading zero, no spaces. */
export const queryInteger = madeOnce((min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, { error: "must be an integer" })
    .transform(Number)
    .refine((value) => value >= min && value <= max, {
      error:
        max === Number.MAX_SAFE_INTEGER
          ? `must be at least ${min}`
          : `must be from ${min} to ${max}`,
    })
    .meta({ type: "integer", minimum: min, maximum: max }),
);

/** Yes or no in a query. */
export const queryFlag = z
  .enum(["true", "false"], { error: "must be true or false" })
  .transform((value) => value === "true");

/** A change that is only tried. */
export const dryRun = queryFlag
  .optional()
  .describe("`true`: answer what would change, and change nothing.");

/** How many things a page holds at most. */
export const queryLimit = (max: number, usual: number) =>
  queryInteger(1, max).default(usual).describe(`How many at most. Default ${usual}.`);

/** Seconds to wait for news before an empty answer. */
export const queryWait = queryInteger(0, 60)
  .default(0)
  .describe("Seconds to wait for something new before an empty answer. Default 0.");
