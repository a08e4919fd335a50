import * as z from "zod";
import { fieldLabels } from "../../ground/kit/field-kind.ts";
import {
  boolean,
  hexIdField,
  integer,
  list,
  pathName,
  peopleAnswer,
  person,
  text,
} from "../../ground/kit/fields.ts";
import { readUrl } from "../../ground/kit/url.ts";
import { conditions } from "./condition.ts";

/** A rule: as it is written and read over the interface, and as it is stored and compiled. */

/** A year, in minutes: keeps every due time a safe integer. */
const minutes = integer(0, 525_600);

const unusual = z.strictObject({
  factor: integer(2, 100).describe("The multiple of the usual count that must be exceeded."),
  at_least: integer(1, 1_000_000)
    .default(10)
    .describe("At least so many in the window, whatever is usual."),
});

const missing = z.union(
  [
    z.strictObject({ template_id: text(64, 1) }),
    z.strictObject({ source: text(128, 1) }),
    z.literal(true),
  ],
  { error: 'must be true, {"template_id": …} or {"source": …}' },
);

const match = z.strictObject({
  min_level: integer(0)
    .nullable()
    .default(null)
    .describe("Lowest level that matches; null = any. An event without a level has 200."),
  sources: list(text(128, 1), 100)
    .default([])
    .describe("One of these sources, by name; empty = any."),
  tags: list(text(256, 1), 100).default([]).describe("One of these tags; empty = any."),
  template_contains: text(500)
    .default("")
    .describe(
      "Text that the template or the message's own shape contains, case-sensitive; empty = any.",
    ),
  first_seen_days: integer(1, 90)
    .nullable()
    .default(null)
    .describe(
      "Only messages whose template has not come in the project for that many days, or never; null = any. In its first 24 hours a source opens nothing by this.",
    ),
  unusual: unusual
    .nullable()
    .default(null)
    .describe(
      "Matches only if more than `factor` times as many came in the last `window_minutes` (whole hours, at most a week) as usual: the median of these hours in the last four weeks, two at least. Null: off. Without sources, tags, conditions and identifiers the template's events count, else the rule's.",
    ),
});

const fireAfter = z.strictObject({
  count: integer(1, 1_000_000).default(1).describe("Matching events within the window, at least."),
  distinct_sources: integer(1, 100_000).default(1).describe("Sources they come from, at least."),
  window_minutes: integer(1, 525_600).default(1).describe("Length of the sliding window."),
});

/** How a ladder names a schedule: two names and a slash at most. */
export const scheduleReference = text(257, 1);

/** A step of the ladder. */
export const escalationStep = z.strictObject({
  accounts: list(person, 20)
    .default([])
    .describe("Account ids, or addresses as `email:ann@example.org`."),
  schedules: list(scheduleReference, 20)
    .default([])
    .describe(
      "Schedules by name, a shared one of another project as `{project}/{schedule}`: the person on call when the rung runs.",
    ),
  after_minutes: minutes
    .default(0)
    .describe("Counted from the alert's opening, for every rung, not from the rung before."),
  repeat_minutes: minutes
    .default(0)
    .describe("Repeats this rung until the next one, an acknowledgement or a resolve; 0 = once."),
});

const silencedBy = z.strictObject({
  rule: text(200, 1).describe("Another rule's name."),
  equal: list(text(256, 1), 32)
    .default([])
    .describe(
      "Labels that must have the same single value in both alerts; empty = any alert of that rule.",
    ),
});

export const ruleFields = {
  match: match.prefault({}).describe("Which events match: all parts that are given must hold."),
  conditions: conditions.describe("Comparisons with the event's keys; all must hold."),
  missing: missing
    .nullable()
    .default(null)
    .describe(
      "Alerts open when matching messages stop, and resolve when they come again: of each template (`true`), one template or one source. It must have come 336 times in 14 days, and before. It is missing after three times its longest pause in them, at least an hour. Null: off.",
    ),
  fire_after: fireAfter.prefault({}).describe("How many matching events open an alert."),
  for_minutes: integer(0, 1440)
    .default(0)
    .describe(
      "Minutes before the alert opens. It doesn't if its sender resolves it meanwhile or, for senders that don't resolve, if no match came in the last third of them. 0 = at once.",
    )
    .register(fieldLabels, { label: "It must last", unit: "min" }),
  dedup_window_minutes: minutes
    .default(0)
    .describe(
      "While the alert is open, a match notifies again if the match before it is more than this many minutes older; 0 = never.",
    )
    .register(fieldLabels, { label: "A match counts as news after", unit: "min" }),
  auto_resolve_quiet_minutes: minutes
    .default(0)
    .describe(
      "Resolves the alert after this many minutes without a match; 0 = never. Time in which the box was off doesn't count.",
    )
    .register(fieldLabels, { label: "Resolve after", unit: "quiet min" }),
  renotify_minutes: minutes
    .default(0)
    .describe("Minutes after which it notifies again while nobody has acknowledged; 0 = never.")
    .register(fieldLabels, { label: "Say again that it is open every", unit: "min" }),
  max_renotify: integer(0, 1_000_000)
    .default(0)
    .describe("How often it notifies again; 0 = no limit.")
    .register(fieldLabels, { label: "at most", unit: "times" }),
  ends_with_source: boolean
    .default(true)
    .describe(
      "Senders that name their alerts (`dedup_key`) can resolve them. False: only a person or `auto_resolve_quiet_minutes` does.",
    )
    .register(fieldLabels, { label: "Its sender may end an alert" }),
  reopen_within_seconds: integer(0, 86_400)
    .default(0)
    .describe(
      "If an alert fires again within this many seconds after its sender or `auto_resolve_quiet_minutes` resolved it, the same alert opens again; 0 = off.",
    )
    .register(fieldLabels, { label: "Fires again within", unit: "s" }),
  silenced_by: list(silencedBy, 10)
    .default([])
    .describe(
      "Rules of the project: while an alert of one is unresolved, this rule's alerts are silenced.",
    ),
  ack_expires_minutes: minutes
    .default(0)
    .describe("Minutes after which an acknowledgement ends and the ladder begins again; 0 = never.")
    .register(fieldLabels, { label: "An acknowledgement ends after", unit: "min" }),
  max_open: integer(0, 100_000)
    .default(200)
    .describe(
      "If the rule has this many unresolved alerts, further ones are counted into one alert, `{rule}: too many to list`; 0 = no limit.",
    )
    .register(fieldLabels, { label: "Open at once at most", unit: "alerts" }),
  identifier_keys: list(text(256, 1), 32)
    .default([])
    .describe("Keys of the event whose values tell two alerts of this rule apart.")
    .register(fieldLabels, { label: "One alert for each" }),
  investigate: boolean
    .default(false)
    .describe(
      "A mark for your own programs. The box only copies it to the alert and to what channels get.",
    )
    .register(fieldLabels, { label: "Investigate" }),
  runbook_url: text(2048)
    .refine((url) => url === "" || typeof readUrl(url) !== "string", {
      error: "must be an http or https address",
    })
    .default("")
    .describe("The page that says what to do about its alerts: messages link to it; empty = none.")
    .register(fieldLabels, { label: "Runbook" }),
  actions: list(hexIdField, 100)
    .nullable()
    .default(null)
    .describe(
      "Action ids; null or left out = every enabled action that takes the event, also later ones.",
    ),
  escalations: list(escalationStep, 10)
    .default([])
    .describe(
      "The ladder (escalation policy): its rungs, in this order. Without rungs an alert pages nobody. Of a rule with `ladder`: that ladder's, as they stand now.",
    ),
  ladder: pathName(200)
    .nullable()
    .optional()
    .describe(
      "A ladder of the tenant by name, in place of rungs of the rule's own; `escalations` is then left out, or the same. null: the rule has its own. Left out when a rule is replaced: the ladder stays where `escalations` are its rungs, else the rule has its own from then on.",
    ),
};

export const ruleName = pathName(200);

/** The body that makes a rule. */
export const ruleCreate = z.strictObject({ name: ruleName, ...ruleFields }).meta({
  id: "RuleWrite",
  examples: [
    {
      name: "payment errors",
      match: { min_level: 400, sources: ["shop"], template_contains: "payment" },
      conditions: [{ key: "amount", op: "gte", value: 100 }],
      fire_after: { count: 5, distinct_sources: 1, window_minutes: 10 },
      identifier_keys: ["customer"],
      escalations: [
        { schedules: ["first line"], after_minutes: 0, repeat_minutes: 10 },
        { accounts: ["c0ffee0123456789"], after_minutes: 30 },
      ],
    },
  ],
});

/** The body that replaces one: the name may be left out, being in the path. */
export const ruleReplace = z.strictObject({ name: ruleName.optional(), ...ruleFields });

/** An action that a rule's alerts run, and on which of their events. */
const runsAction = z.object({ id: z.string(), name: z.string(), events: z.array(z.string()) });

/** A source that is being learned: until then it opens nothing as new. */
const learning = z.object({
  source: z.string(),
  until: z.int().nullable().meta({ description: "Null: it sent nothing yet." }),
});

/** A rule as it is read. */
const ruleAnswer = z.object({
  name: z.string(),
  ...ruleFields,
  match: match.extend({
    min_level: z.int().optional(),
    first_seen_days: z.int().optional().meta({
      description: "Left out if any template matches.",
    }),
    unusual: unusual.optional().meta({
      description: "Left out if any number matches.",
    }),
  }),
  missing: missing.optional().meta({
    description: "Left out where alerts open when something comes.",
  }),
  ladder: z.string().nullable().meta({
    description: "The ladder of the tenant that it refers to; null: its rungs are its own.",
  }),
  actions: z.array(z.string()).optional().meta({
    description: "Left out where the rule was written without: it runs every action.",
  }),
  runs_actions: z.array(runsAction).meta({
    description:
      "The enabled actions that alerts of this rule run as things stand, named by it or not, and on which events. Read only.",
  }),
  learning: z.array(learning).optional().meta({
    description:
      "Of a rule with `first_seen_days`, the sources that it may take whose first 24 hours aren't over, or that sent nothing yet. Read only.",
  }),
  compares_from: z.int().nullable().optional().meta({
    description:
      "Of a rule with `unusual` or `missing`, from when on there are two weeks to compare with; until then it opens nothing by this. Null: nothing was counted yet. Read only.",
  }),
  created_at: z.int(),
  updated_at: z.int(),
});

/** As it is answered: with everybody whom the ladder names, by email as well. */
export const ruleShown = ruleAnswer.extend({ people: peopleAnswer }).meta({ id: "Rule" });

/** Everything given or at its default (contract §13, contract §5). */
export type RuleBody = Omit<z.output<typeof ruleCreate>, "name">;
export type Rule = z.output<typeof ruleAnswer>;
export type RunsAction = z.output<typeof runsAction>;
export type Learning = z.output<typeof learning>;
export type EscalationStep = z.output<typeof escalationStep>;

/** Whom a rule pages and when: by steps of its own, or by a ladder of the tenant. */
export interface LadderPart {
  /** The ladder's name; null or undefined: the steps are the rule's own. */
  ladder?: string | null | undefined;
  escalations: EscalationStep[];
  /** How often the whole ladder runs; undefined: once. */
  passes?: number | undefined;
  /** Between two passes, and from the last one to the fallback; null where there is one pass. */
  pass_after_minutes?: number | null | undefined;
}

export interface StoredRule extends RuleBody, LadderPart {
  id: number;
  project_id: number;
  name: string;
  created_at: number;
  updated_at: number;
}

/** A rule's body without what is known of its row and of its ladder. */
export function bodyOfRule(rule: StoredRule): RuleBody {
  const { id, project_id, name, created_at, updated_at, passes, pass_after_minutes, ...body } =
    rule;
  return body;
}

/** The rule as it is read. `actions` is left out where it was: given and empty means none at all. */
export function toRule(
  rule: StoredRule,
  {
    runs_actions,
    learning,
    compares_from,
  }: Pick<Rule, "runs_actions" | "learning" | "compares_from">,
): Rule {
  const {
    id,
    project_id,
    actions,
    match,
    passes,
    pass_after_minutes,
    ladder = null,
    missing,
    ...rest
  } = rule;
  const { min_level, first_seen_days, unusual, ...others } = match;
  return {
    ...rest,
    ladder,
    match: {
      ...(min_level === null ? {} : { min_level }),
      ...others,
      ...(first_seen_days === null ? {} : { first_seen_days }),
      ...(unusual === null ? {} : { unusual }),
    },
    ...(missing === null ? {} : { missing }),
    ...(actions === null ? {} : { actions }),
    runs_actions,
    ...(learning === undefined ? {} : { learning }),
    ...(compares_from === undefined ? {} : { compares_from }),
  };
}
