import * as z from "zod";

/** What could be changed, why, and what it would come to: as it is answered. Times are seconds, figures of the past `ADVICE_DAYS` days. */

export const ADVICE_DAYS = 28;
/** More are not given: who gets a long list reads none of it. */
export const MOST_ADVICE = 10;

const adviceKinds = [
  "one_cause",
  "many_of_one",
  "flaps",
  "ends_by_itself",
  "nobody_acts",
  "never_answered",
  "unheard",
  "vanished",
  "unproved",
] as const;
export type AdviceKind = (typeof adviceKinds)[number];

const would = z.object({
  days: z.int().meta({ description: "So many days of kept lines were looked at." }),
  alert_count: z.int(),
  page_count: z.int(),
});

const advice = z
  .object({
    id: z
      .string()
      .meta({ description: "Stays the same as long as the advice is about the same thing." }),
    kind: z.enum(adviceKinds),
    project: z.string().nullable(),
    rule: z.string().nullable(),
    account_id: z.string().nullable().meta({ description: "Of `unproved`: whose phone." }),
    text: z.string().meta({ description: "What was seen and what to do, in two sentences." }),
    figures: z.record(z.string(), z.int()).meta({
      description: "What happened in the past 28 days; `alerts` and `pages` of a rule among them.",
    }),
    change: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        "Fields of the rule with the values to set; of `unheard` and `vanished` those of a new rule. null: no field mends it.",
    }),
    would: would.nullable().meta({
      description:
        "What the dry run of the changed rule says over the lines that the project keeps; null: it keeps none, or no field is changed, or the sender ends these alerts, which lines don't show, or there was no time for it yet.",
    }),
  })
  .meta({ id: "Advice" });

export const adviceAnswer = z.object({
  advice: z.array(advice).meta({ description: "At most ten, what spares the most pages first." }),
});
export type Advice = z.output<typeof advice>;
/** `isTried`: a dry run can say what the change comes to. */
export type AdviceProposal = Omit<Advice, "would"> & { isTried: boolean };
export type AdviceAnswer = z.output<typeof adviceAnswer>;

export const adviceHidden = z.object({
  id: z.string(),
  until: z.int().meta({ description: "It isn't given before: Unix seconds." }),
});
