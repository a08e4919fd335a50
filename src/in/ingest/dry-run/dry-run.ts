import * as z from "zod";
import type { Break } from "../../../core/alerts/course-shape.ts";
import { ruleCreate, ruleName } from "../../../core/projects/rule.ts";
import { boolean, integer, list, text } from "../../../ground/kit/fields.ts";

/** The API's bodies and answers for a dry run: the alerts that a rule would have opened. */

export const dryRunWrite = z
  .strictObject({
    rule: ruleCreate,
    days: integer(1, 30).default(7).describe("How far back the kept lines are looked at."),
    versus: ruleName
      .optional()
      .describe("A saved rule of the project: what it did in the same time, by its real alerts."),
    weeks: boolean
      .default(false)
      .describe(
        "Also by the hour what came in the last four weeks, where the rule asks for what is new, unusual or missing.",
      ),
    lines: list(text(65_536, 1), 1000)
      .optional()
      .describe("In place of the kept lines: each a message that came just now."),
    assume_resolved_after: integer(1, 2_592_000)
      .optional()
      .describe("Seconds after which somebody ends an alert; default: the project's own median."),
  })
  .meta({ id: "DryRunWrite" });
export type DryRunInput = z.output<typeof dryRunWrite>;

const dryAlert = z.object({
  opened_at: z.int(),
  ended_at: z.int().nullable(),
  end: z.enum(["quiet", "assumed", "open", "came"]),
  template_id: z.string(),
  template: z.string(),
  identifiers: z.record(z.string(), z.string()),
  count: z.int(),
  level: z.int(),
  line_id: z.string().meta({ description: "The line that it opened with." }),
});
/** With the times in which it was resolved, until it reopened. */
export type DryAlert = z.output<typeof dryAlert> & { breaks: Break[] };

const versus = z.object({
  alerts: z.int(),
  buckets: z.array(z.object({ at: z.int(), alerts: z.int() })).meta({
    description: "Hours in which it opened some.",
  }),
  only_new: z.array(z.int()).meta({
    description: "When alerts would have opened that the saved rule didn't open; the first 500.",
  }),
  only_old: z.array(z.string()).meta({
    description: "Ids of its alerts that the tried rule wouldn't have opened; the first 500.",
  }),
});

const weeks = z.object({
  from: z.int(),
  until: z.int(),
  compares_from: z.int().nullable().meta({
    description:
      "Before it nothing is known, as far as counts are kept: of `unusual` and `missing` two weeks, of `first_seen_days` the first 24 hours. Null: nothing was counted yet.",
  }),
  complete: z.boolean().meta({
    description: "False: there is so much that not all was looked at.",
  }),
  hours: z
    .array(
      z.object({
        at: z.int(),
        events: z.int(),
        usual: z.number().nullable().meta({
          description: "Of `unusual`: the median of this hour in the weeks before, all together.",
        }),
        fired: z.int(),
      }),
    )
    .meta({ description: "Hours in which something came, usually comes, or the rule fired." }),
  fired_count: z.int(),
  fired: z
    .array(
      z.object({
        at: z.int(),
        template_id: z.string(),
        template: z.string(),
        identifiers: z.record(z.string(), z.string()),
        came: z.int().nullable(),
        usually: z.int().nullable(),
      }),
    )
    .meta({ description: "The latest 100, in their order." }),
});
/** What the counts of four weeks say. */
export type Weeks = z.output<typeof weeks>;

/** The result of reading the lines. */
const dryRunFound = z.object({
  range: z.object({
    from: z.int(),
    until: z.int(),
    complete: z.boolean(),
    why: z.enum(["time", "retention", "memory"]).nullable().meta({
      description: "What kept it from the whole of the days asked for.",
    }),
  }),
  scanned: z.object({
    lines: z.int(),
    ms: z.int(),
    sources: z.array(z.string()),
    sources_without_logs: z.array(z.string()),
  }),
  matched: z.int(),
  alert_count: z.int(),
  assume_resolved_after: z.int(),
  alerts: z.array(dryAlert).meta({ description: "The first 500." }),
  buckets: z
    .array(z.object({ at: z.int(), matched: z.int(), alerts: z.int() }))
    .meta({ description: "Hours in which something matched." }),
  templates: z
    .array(
      z.object({
        template_id: z.string(),
        template: z.string(),
        grew: z.boolean().meta({
          description: "Lines were given narrower templates, which this one has taken in since.",
        }),
        matched: z.int(),
        alerts: z.int(),
        example: z.string(),
      }),
    )
    .meta({ description: "The 50 with the most matches." }),
  near: z
    .array(
      z.object({
        template: z.string(),
        identifiers: z.record(z.string(), z.string()),
        best: z.int(),
        needed: z.int(),
        at: z.int(),
      }),
    )
    .meta({ description: "What came nearest to opening an alert and didn't, at most 10." }),
  versus: versus.nullable().meta({
    description: "Null where no rule was named. Alerts of one template at one time are the same.",
  }),
  warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
  weeks: weeks.nullable().meta({
    description:
      "Where the rule would have fired in the last four weeks by what is counted of whole hours, whatever lines are kept. Null where `weeks` wasn't asked for, and of a rule that takes whatever comes.",
  }),
});
export type DryRunFound = Omit<z.output<typeof dryRunFound>, "alerts"> & { alerts: DryAlert[] };

/** With the people whom its ladder would have paged if nobody had acknowledged. */
export const dryRunAnswer = dryRunFound
  .extend({
    alerts: z
      .array(
        dryAlert.extend({
          paged: z.array(z.string()).meta({ description: "Accounts, until the alert's end." }),
        }),
      )
      .meta({ description: "The first 500." }),
    page_count: z.int().meta({
      description:
        "Steps, repeats and renotifies that page somebody, of the alerts that are listed one by one.",
    }),
    night_page_count: z.int().meta({
      description: "Of those between 22 and 7 o'clock in the zone of the schedule that was paged.",
    }),
  })
  .meta({ id: "DryRun" });
export type DryRun = z.output<typeof dryRunAnswer>;
