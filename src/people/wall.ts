import * as z from "zod";
import { text } from "../ground/kit/fields.ts";

/** The API's bodies and answers for links to the wall. */

/** The body that creates a link. */
export const wallWrite = z
  .strictObject({
    name: text(64, 1),
    messages: z.boolean().default(true).meta({
      description: "Whether messages and identifiers are shown; else projects and rules alone.",
    }),
  })
  .meta({ id: "WallWrite" });
export type WallWrite = z.output<typeof wallWrite>;

export const wallAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    messages: z.boolean(),
    /** null: the account was removed. */
    created_by: z.string().nullable(),
    created_at: z.int(),
    /** To the minute; null: no screen has shown it yet. */
    last_seen_at: z.int().nullable(),
  })
  .meta({ id: "Wall" });
export type WallAnswer = z.output<typeof wallAnswer>;
