import * as z from "zod";
import { sourceKind, sourceName, sourceToken } from "../../core/projects/source.ts";
import { boolean, integer } from "../../ground/kit/fields.ts";

/** The API's bodies and answers for connecting a sender: a source, a rule if needed, and the text to enter. */
export const connectBody = z.strictObject({
  kind: sourceKind.meta({ description: "What the sender speaks, `alertmanager` for example." }),
  name: sourceName.optional().meta({ description: "Of the source; default its kind." }),
  level: integer(0).optional().meta({
    description: "Lowest level that the new rule takes; default 400, of kind email 300.",
  }),
  retain_logs: boolean.optional().meta({
    description: "Whether its lines are kept, to look at them and to try rules on; default true.",
  }),
});

const setUp = z.object({
  where: z.string().meta({ description: "Where in the sender the text goes." }),
  paste: z.string().meta({ description: "The text, with the token in it. Shown this once." }),
  notes: z.array(z.string()),
});

export const connectionAnswer = sourceToken
  .extend({
    kind: z.string(),
    rules: z.array(z.string()).meta({ description: "Rules that may take what it sends." }),
    made_rule: z.string().nullable().meta({
      description: "The rule that was made, because no rule could have matched its events.",
    }),
    set_up: setUp,
  })
  .meta({ id: "Connection" });
export type ConnectionAnswer = z.output<typeof connectionAnswer>;

/** What happened to a source's first event. */
export const heardAnswer = z
  .object({
    heard: z
      .object({
        at: z.int(),
        message: z.string(),
        level: z.int(),
        template: z.string(),
        rules: z.array(z.string()).meta({ description: "Rules that match it now." }),
        alert: z.string().nullable().meta({ description: "The id of the alert that it is in." }),
        pages: z.array(z.string()).meta({
          description:
            "Who was paged, by email; without an alert whom the rules' first rungs would page, people and schedules.",
        }),
        proposes: z
          .object({ rules: z.array(z.string()), identifier_keys: z.array(z.string()) })
          .nullable()
          .meta({
            description:
              "Labels of the event that name what it is about, and those matching rules whose identifier_keys have none of them: with them each such thing has an alert of its own. Null where there is nothing to add, as for an event with a dedup_key.",
          }),
      })
      .nullable()
      .meta({ description: "Null while nothing came since this was first asked for." }),
  })
  .meta({ id: "Heard" });
export type HeardAnswer = z.output<typeof heardAnswer>;
