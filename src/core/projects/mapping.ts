import * as z from "zod";
import { sourceOptions } from "./source.ts";

/** A source's mapping, tried: as it is asked for and answered over the interface. */

/** The body that tries one. */
export const mappingTry = z.strictObject({
  mapping: sourceOptions.shape.mapping.meta({
    description: "Default: the source's own mapping.",
  }),
  body: z.unknown().meta({ description: "What was sent: a string as it is, else its JSON." }),
  content_type: z.string().max(200).optional(),
  headers: z.record(z.string().max(128), z.string().max(4096)).optional(),
  query: z.record(z.string().max(128), z.string().max(4096)).optional(),
});

/** The events that it makes. */
export const mappingTried = z.object({
  events: z.array(
    z.object({
      message: z.string(),
      title: z.string().nullable().meta({ description: "What its alert is called." }),
      level: z.int(),
      action: z.string(),
      dedup_key: z.string().nullable(),
      instance: z.string().nullable(),
      occurred_at: z.int().nullable(),
      details: z.string().nullable(),
      keys: z.record(z.string(), z.string()),
      tags: z.array(z.string()),
      links: z.array(z.object({ href: z.string(), text: z.string() })),
      images: z.array(z.string()),
    }),
  ),
  rejected: z.array(z.string()).meta({ description: "Why elements are no events." }),
});

/** The latest bodies that came, to try a mapping on. */
export const receivedBodies = z.object({
  received: z.array(z.object({ at: z.int(), content_type: z.string(), body: z.string() })),
});
