import * as z from "zod";
import { boolean, integer, list, text } from "../../ground/kit/fields.ts";
import { channelHealthAnswer } from "../../out/outbox/channel-health.ts";
import { LONGEST_TEMPLATE } from "../../out/outbox/custom-words.ts";
import { eventKinds } from "../../out/outbox/event.ts";
import type { ChannelList } from "../../out/services/list.ts";

/** An integration's fields as they are written and read over the interface (contract §13, Integration). */

/** Kinds that a channel subscribes to; none = every kind (contract §17, rule 4). */
export const integrationEvents = list(
  z.enum(eventKinds, { error: `must be one of ${eventKinds.join(", ")}` }),
  16,
);

/** What both views of the row show. */
const shown = {
  id: z.string(),
  project: z.string(),
  /** What the kind of channel shows of its address; may be empty. */
  url: z.string(),
  enabled: z.boolean(),
  event_filter: z.string().meta({ description: "Kinds, comma-separated; empty = every kind." }),
  consecutive_failures: z.int(),
  last_error: z.string().nullable(),
  created_at: z.int(),
};

/** Openings that a room is told one by one in a minute, unless told. */
export const USUAL_STORM = 10;

export const stormThreshold = integer(0, 1000).meta({
  description: `Chat channels only. If more than this many alerts open within a minute, further ones come in one message a minute; 0 = never. Default ${USUAL_STORM}. Other kinds get each alert.`,
});

/** Whether it hears of other projects, too. */
export const sharingFields = z.object({
  shared: boolean.meta({
    description: "It gets the alerts of every project, except those in `except`.",
  }),
  except: list(text(128, 1), 1000).meta({ description: "Names of projects." }),
});

/** A text in Mustache; empty = the usual one. */
export const templateText = text(LONGEST_TEMPLATE);

const row = z.object({
  ...shown,
  name: z.string(),
  type: z.string(),
  title_template: z.string(),
  body_template: z.string(),
  storm_threshold: stormThreshold.optional(),
  ...sharingFields.shape,
});
/** An integration as it is read, without its credentials. */
export type Integration = z.output<typeof row>;

/** As the list of channels describes it. */
export function integrationAnswer({ kinds, type }: ChannelList) {
  const counted = kinds.filter(({ pushes }) => pushes).map(({ kind }) => kind);
  return row
    .extend({
      type,
      health: channelHealthAnswer.meta({ description: "How it fares, in words." }),
      device_count: z
        .int()
        .optional()
        .meta({
          description: `${counted.join(", ")}: how many devices the calling key's account has.`,
        }),
    })
    .meta({ id: "Integration" });
}

/** A webhook's row in its own view. */
export const webhookAnswer = z.object(shown).meta({ id: "WebhookEndpoint" });
