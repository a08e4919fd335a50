import * as z from "zod";
import { boolean, integer, list, text, time } from "../../ground/kit/fields.ts";
import { type LabelCondition, labelConditions, silenceConditions } from "../projects/condition.ts";

/** A silence: what is kept quiet, from when until when, why and by whom. Times are Unix seconds. */

const identifiers = z
  .record(text(256, 1), text(4096), { error: "must be an object of strings" })
  .refine((all) => Object.keys(all).length <= 32, { error: "must have at most 32 names" });

const match = z.strictObject({
  rule: text(200, 1).nullable().default(null).describe("A rule's name; null = any."),
  template_id: text(64, 1).nullable().default(null).describe("An alert's template; null = any."),
  identifiers: identifiers.default({}).describe("Identifiers with their values; all must hold."),
  sources: list(text(128, 1), 100)
    .default([])
    .describe(
      "Source names: the alert came from one of these alone. Of several sources it rings; empty = any.",
    ),
  below_level: integer(1).nullable().default(null).describe("Only below this level; null = any."),
});

const silenceKind = z.enum(["silence", "maintenance"], {
  error: "must be silence or maintenance",
});
const repeat = z.enum(["none", "daily", "weekly"], { error: "must be none, daily or weekly" });

/** What a silence is beside its times. */
const told = {
  match: match.prefault({}).describe("Which alerts: all that is given must hold."),
  conditions: silenceConditions.describe(
    "Comparisons with the alert's identifiers; all must hold.",
  ),
  labels: labelConditions.describe(
    "Comparisons with the alert's labels; all must hold. Of a label that varies between its events each known value must, and none may be unknown.",
  ),
  critical: boolean.default(false).describe("Whether it silences alerts of level 500 and above."),
  all: boolean
    .default(false)
    .describe("Must be true if nothing but a project or a level limits the silence."),
  kind: silenceKind.default("silence"),
  name: text(200).default("").describe("What a maintenance is called."),
  reason: text(1000, 1).describe("Why."),
  tell_author: boolean
    .default(false)
    .describe("Whether its author gets a message when it ends by itself."),
};

export const silenceWrite = z
  .strictObject({
    project: text(128, 1).nullable().default(null).describe("Its name; null = every project."),
    ...told,
    starts_at: time.optional().describe("Left out: now."),
    ends_at: time.describe("At most 30 days later; of a repeating one at most 7."),
    repeat: repeat
      .default("none")
      .describe("Comes again at the same times on the clocks of its zone."),
    timezone: text(64, 1).default("UTC").describe("IANA name: whose clocks repeat."),
    repeat_until: time
      .nullable()
      .default(null)
      .describe("A repeating one is over then: at most a year after its start."),
  })
  .meta({
    id: "SilenceWrite",
    examples: [
      {
        project: "shop",
        match: { rule: "errors", identifiers: { provider: "acme" } },
        ends_at: 1_764_000_000,
        reason: "deploy 41",
      },
    ],
  });
export type SilenceWrite = z.output<typeof silenceWrite>;

/** What may be changed of a silence that isn't over. */
export const silenceChange = z.strictObject({
  ends_at: time.optional(),
  repeat_until: time.optional(),
  reason: text(1000, 1).optional(),
});
export type SilenceChange = z.output<typeof silenceChange>;

export const silenceState = z.enum(["active", "planned", "over"]);

export const silenceAnswer = z
  .object({
    id: z.string(),
    project: z.string().nullable(),
    ...told,
    starts_at: z.int(),
    ends_at: z.int(),
    repeat,
    timezone: z.string(),
    repeat_until: z.int().nullable(),
    state: silenceState,
    until: z.int().nullable().meta({ description: "Quiet until then; null: not quiet now." }),
    next_at: z.int().nullable().meta({ description: "When it begins next; null: never again." }),
    holds: z.int().meta({ description: "Open alerts whose news it holds back now." }),
    managed: z.boolean().meta({
      description:
        "Managed by the project's configuration: it ends when the configuration no longer contains it.",
    }),
    created_by: z.string().meta({ description: "An account's id." }),
    created_at: z.int(),
  })
  .meta({ id: "Silence" });
export type SilenceAnswer = z.output<typeof silenceAnswer>;

/** As it is stored beside its times. */
export type SilenceBody = Omit<
  SilenceWrite,
  "project" | "starts_at" | "ends_at" | "repeat" | "repeat_until" | "labels" | "tell_author"
> & {
  /** Left out: none. */
  labels?: LabelCondition[];
  /** Left out: no; false once the author was told, or it was ended by hand. */
  tell_author?: boolean;
  /** The project's configuration names it; left out: no. */
  managed?: boolean;
};

/** A row of the table. */
export interface SilenceRow {
  id: string;
  project_id: number | null;
  repeats: z.output<typeof repeat>;
  starts_at: number;
  ends_at: number;
  over_at: number;
  body: string;
  created_by: string;
  created_at: number;
}
