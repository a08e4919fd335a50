import * as z from "zod";
import { boolean, integer, list, text } from "../../ground/kit/fields.ts";

/** A runbook action: as it is written and read over the interface (contract §13, Runbook action). */

/** The events an action can run on (contract §13); it runs on the first unless told. */
export const actionEvents = ["alert.opened", "alert.escalated"] as const;

export const actionMethod = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"], {
  error: "must be one of GET, POST, PUT, PATCH, DELETE",
});

export const actionEvent = z.enum(actionEvents, {
  error: `must be one of ${actionEvents.join(", ")}`,
});
export type ActionEvent = z.output<typeof actionEvent>;

const headers = z
  .record(z.string(), z.string({ error: "must be a string" }), { error: "must be an object" })
  .refine((value) => Object.keys(value).length <= 32, { error: "must have at most 32 headers" })
  .meta({ maxProperties: 32 });

/** Fields that are written as they are read. */
export const actionFields = {
  name: text(128, 1),
  method: actionMethod,
  url: text(2048, 1),
};

export const actionTimeout = integer(0, 60);

/** The body that makes or replaces an action. `events` omitted: `alert.opened`; empty: every kind. */
export const actionWrite = z.strictObject({
  ...actionFields,
  headers: headers.optional().meta({
    description:
      "Stored encrypted. On PUT kept when left out; with another host in `url` they must be given again.",
  }),
  body: text(8192).optional().meta({
    description: "Empty: none. On PUT as `headers`.",
  }),
  enabled: boolean.optional().meta({ description: "Default true; on PUT kept when left out." }),
  events: list(actionEvent, 2).optional().meta({
    description: 'Events that run the action. Default `["alert.opened"]`; an empty list: both.',
  }),
  timeout_seconds: actionTimeout
    .optional()
    .meta({ description: "Seconds; 0 and the default: 10." }),
});
export type ActionWrite = z.output<typeof actionWrite>;

/** The body that replaces an action. The dashes of a list stand for what is stored. */
export const actionReplace = actionWrite.extend({
  headers: headers.or(z.literal("-")).optional().meta({
    description:
      "Kept when left out, or a dash as in a list; with another host in `url` they must be given again.",
  }),
  body: text(8192).optional().meta({
    description: "As `headers`; a dash is the new body where none is stored. Empty: none.",
  }),
});
export type ActionReplace = z.output<typeof actionReplace>;

/** An action as it is read, without its sealed fields. */
export const actionAnswer = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    method: actionMethod,
    url: z.string(),
    header_keys: z.array(z.string()),
    has_body: z.boolean(),
    enabled: z.boolean(),
    events: z.array(actionEvent),
    event_filter: z.string(),
    timeout_seconds: z.int(),
    created_at: z.int(),
  })
  .meta({ id: "Action" });
export type Action = z.output<typeof actionAnswer>;

/** In a list a dash shows where headers or a body are stored. */
export const listedAction = actionAnswer
  .extend({
    headers: z.literal("-").optional(),
    body: z.literal("-").optional(),
  })
  .meta({ id: "ListedAction" });
export type ListedAction = z.output<typeof listedAction>;
