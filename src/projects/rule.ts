import { z } from "zod";
import { boolean, hexIdField, integer, list, pathName, text } from "../kit/fields.ts";

/** A rule: as it is written and read over the interface, and as it is stored and compiled. */

/** A year, in minutes: keeps every due time a safe integer. */
const minutes = integer(0, 525_600);

const match = z.strictObject({
  /** Lowest level that matches; null = any. */
  min_level: integer(0).nullable().default(null),
  /** Source names, any of; empty = any. */
  sources: list(text(128, 1), 100).default([]),
  /** Any of; empty = any. */
  tags: list(text(256, 1), 100).default([]),
  /** Case-sensitive substring of the template's text; empty = any. */
  template_contains: text(500).default(""),
});

const condition = z.strictObject({
  key: text(256, 1),
  op: z.enum(["eq", "neq", "gte", "lte"], { error: "must be one of eq, neq, gte, lte" }),
  value: z.union([text(4096), z.number(), z.boolean()], {
    error: "must be a string, number or boolean",
  }),
});

const fireAfter = z.strictObject({
  count: integer(1, 1_000_000).default(1),
  distinct_sources: integer(1, 100_000).default(1),
  window_minutes: integer(1, 525_600).default(1),
});

/** A step of the ladder. */
export const escalationStep = z.strictObject({
  accounts: list(text(128, 1), 20).default([]),
  /** Schedule names. */
  schedules: list(text(128, 1), 20).default([]),
  after_minutes: minutes.default(0),
  repeat_minutes: minutes.default(0),
});

export const ruleFields = {
  match: match.prefault({}),
  conditions: list(condition, 100).default([]),
  fire_after: fireAfter.prefault({}),
  dedup_window_minutes: minutes.default(0),
  auto_resolve_quiet_minutes: minutes.default(0),
  renotify_minutes: minutes.default(0),
  max_renotify: integer(0, 1_000_000).default(0),
  /** Whether a source that names its alerts may end them; false: only a person or quiet does. */
  ends_with_source: boolean.default(true),
  /** Within so many seconds of its end by source or quiet, an alert that fires again is the same; 0 = off. */
  reopen_within_seconds: integer(0, 86_400).default(0),
  identifier_keys: list(text(256, 1), 32).default([]),
  investigate: boolean.default(false),
  /** Action ids; null = every enabled action whose events name the event. */
  actions: list(hexIdField, 100).nullable().default(null),
  escalations: list(escalationStep, 10).default([]),
};

export const ruleName = pathName(200);

/** The body that makes a rule. */
export const ruleCreate = z
  .strictObject({ name: ruleName, ...ruleFields })
  .meta({ id: "RuleWrite" });

/** The body that replaces one: the name may be left out, being in the path. */
export const ruleReplace = z.strictObject({ name: ruleName.optional(), ...ruleFields });

/** Fields that only a read returns. */
export const ruleReadOnly = ["created_at", "updated_at", "runs_actions"] as const;

/** An action that a rule's alerts run, and on which of their events. */
const runsAction = z.object({ id: z.string(), name: z.string(), events: z.array(z.string()) });

/** A rule as it is read. */
export const ruleAnswer = z
  .object({
    name: z.string(),
    ...ruleFields,
    match: match.extend({ min_level: z.int().optional() }),
    actions: z.array(z.string()).optional().meta({
      description: "Left out where the rule was written without: it runs every action.",
    }),
    runs_actions: z.array(runsAction).meta({
      description:
        "Additive: the enabled actions that alerts of this rule run as things stand, named by it or not, and on which events. Read only.",
    }),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Rule" });

/** Everything given or at its default (contract §13, contract §5). */
export type RuleBody = Omit<z.output<typeof ruleCreate>, "name">;
export type Rule = z.output<typeof ruleAnswer>;
export type RunsAction = z.output<typeof runsAction>;
export type Condition = z.output<typeof condition>;
export type EscalationStep = z.output<typeof escalationStep>;

export interface StoredRule extends RuleBody {
  id: number;
  project_id: number;
  name: string;
  created_at: number;
  updated_at: number;
}

/** The rule as it is read. `actions` is left out where it was: given and empty means none at all. */
export function toRule(rule: StoredRule, runs_actions: RunsAction[]): Rule {
  const { id, project_id, actions, match, ...rest } = rule;
  const { min_level, ...others } = match;
  return {
    ...rest,
    match: { ...(min_level === null ? {} : { min_level }), ...others },
    ...(actions === null ? {} : { actions }),
    runs_actions,
  };
}
