import * as z from "zod";
import { boolean, integer, list, pathName, text } from "../../ground/kit/fields.ts";

/** A source: as it is written and read over the interface (contract §13, Source). */

export const sourceName = pathName(128);

/** What a source's sender speaks; which kinds there are is the adapters' to say. */
export const sourceKind = text(32, 1);
/** Where the names that its sender gives alerts hold: in the project, or among its own alone. */
export const nameScope = z.enum(["project", "source"], { error: "must be project or source" });

/** What is known of a sender's mails by their subject; what a rule leaves out is as usual. */
const mailRule = z.strictObject({
  subject_contains: text(256, 1).meta({ description: "In any case of letters." }),
  action: z.enum(["fire", "resolve", "acknowledge"]).optional(),
  level: integer(0).optional(),
  dedup: z.enum(["subject-without-state", "subject", "none"]).optional().meta({
    description:
      "What names the alert: the subject without its words for a state (the default), all of it, or nothing, so that the template tells alerts apart.",
  }),
  named_as: text(256).optional().meta({
    description:
      "The text that replaces `subject_contains` in the alert's name, so that an end finds its opening: `Connection failed` for `Connection succeeded`.",
  }),
});
export type MailRule = z.output<typeof mailRule>;

/** How what it sends is read, beside what their format says; what is left out is as usual for the kind. */
export const sourceOptions = z.strictObject({
  level_from_text: boolean.optional().meta({
    description:
      "A level word at the beginning of the line counts more than the severity it came with. Of an event to `/v1/ingest` it counts where the event has no level.",
  }),
  logfmt: boolean.optional().meta({ description: "`name=value` in the line become keys." }),
  sentry_pii: boolean.optional().meta({
    description: "Of kind sentry: a user's email and address and the request's URL are kept.",
  }),
  sns_auto_confirm: z
    .array(text(256, 1).regex(/^arn:/, { error: "must be the ARN of a topic" }))
    .max(32)
    .optional()
    .meta({
      description: "Kind `sns`: ARNs of topics whose subscription the box confirms by itself.",
    }),
  sns_verify: boolean.optional().meta({
    description:
      "Kind `sns`: set to false if the box has no internet access. Then no signature is checked, and only topics in `sns_auto_confirm` are accepted.",
  }),
  mail_rules: z
    .union([text(64, 1), list(mailRule, 32)], {
      error: "must be the name of a preset or a list of rules",
    })
    .optional()
    .meta({
      description:
        "Of kind email: the first whose words are in the subject counts. A preset's name, or a list.",
    }),
  mapping: z
    .union([text(64, 1), z.record(z.string(), z.unknown())], {
      error: "must be the name of a preset or a document",
    })
    .optional()
    .meta({
      description:
        "Of kind hook: how an event is read. A preset's name, a document, or a document that changes a `preset`.",
    }),
});
export type SourceOptions = z.output<typeof sourceOptions>;

/** The body that makes a source. */
export const sourceCreate = z.strictObject({
  name: sourceName,
  retain_logs: boolean.optional(),
  kind: sourceKind.optional().meta({
    description: "What its sender speaks, `events` (the default) or an adapter's name.",
  }),
  room: nameScope.optional().meta({
    description:
      "Where a `dedup_key` counts: in the project or this source. The default depends on `kind`.",
  }),
  options: sourceOptions.optional().meta({
    description: "How its lines are read; for kinds that send lines.",
  }),
});

/** The body that changes one. */
export const sourceChange = z.strictObject({
  retain_logs: boolean,
  room: nameScope.optional(),
  options: sourceOptions.optional(),
});

/** The body that renames one. */
export const sourceRename = z.strictObject({ name: sourceName });

export const sourceAnswer = z
  .object({
    created_at: z.int(),
    name: z.string(),
    retain_logs: z.boolean(),
    kind: z.string(),
    room: nameScope.meta({
      description:
        "Where a `dedup_key` counts. `project`: such sources share them, and the token of one can resolve, acknowledge and refresh alerts of the others. `source`: only its own alerts.",
    }),
    options: sourceOptions,
    signed: z.boolean().meta({
      description: "Only requests that its sender has signed are taken.",
    }),
  })
  .meta({ id: "Source" });
export type SourceAnswer = z.output<typeof sourceAnswer>;

const counts = z.record(z.string(), z.int());

/** What became of a source's events, counted in memory since the box started. */
export const sourceFacts = z
  .object({
    name: z.string(),
    accepted: z.int().meta({ description: "Events committed." }),
    unmatched: z.int().meta({ description: "Of those, events that no rule of the project took." }),
    unmatched_resolves: z.int().meta({
      description: "Ends of alerts that were not known here.",
    }),
    clock_suspects: z.int().meta({
      description:
        "Of those, unknown alerts that began and ended within the hour: the sender's clock may be wrong.",
    }),
    refused: counts.meta({ description: "Events refused, by error code." }),
    last_seen: z.int().nullable().meta({ description: "When the latest was committed." }),
    last_refused: z
      .object({
        at: z.int(),
        code: z.string(),
        message: z.string(),
        body: z.string().nullable().meta({
          description:
            "The first 1,024 characters of what was sent; empty if it was not read, null for members.",
        }),
      })
      .nullable()
      .meta({ description: "The latest refusal, for an hour." }),
  })
  .meta({ id: "SourceFacts" });
export type SourceFacts = z.output<typeof sourceFacts>;

/** What a sender signs with. */
export const sourceSecret = z.strictObject({
  secret: text(256, 8).meta({
    description:
      "The same as in the sender: GitHub (kind hook, `X-Hub-Signature-256`) or Grafana (`X-Grafana-Alerting-Signature`). Never read again.",
  }),
});

/** A key of an earlier tool, for a source to take too. */
export const sourceKeyAdd = z.strictObject({
  key: text(64, 20)
    .regex(/^[A-Za-z0-9-]*$/, { error: "must be letters, digits and dashes" })
    .meta({ description: "As the sender has it; only its hash is kept." }),
});
export const sourceKey = z.object({ id: z.int(), added_at: z.int() }).meta({ id: "SourceKey" });
export type SourceKey = z.output<typeof sourceKey>;

/** A source's name with its ingest token, which is only ever in this answer. */
export const sourceToken = z.object({
  name: z.string(),
  token: z.string().meta({ description: "Shown this once." }),
  short_token: z.string().optional().meta({
    description:
      "Sources of an adapter: a short form of the token, for senders whose keys must have 32 hex characters or be a UUID. Shown once.",
  }),
});
export type SourceToken = z.output<typeof sourceToken>;
