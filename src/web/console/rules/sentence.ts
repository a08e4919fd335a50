import type { Condition } from "../../../core/projects/condition.ts";
import { missingSubject } from "../../../core/projects/missing.ts";
import type { RuleBody } from "../../../core/projects/rule.ts";
import { minutesWords } from "../ui/ladder-now.ts";
import { levelWord } from "../ui/level.ts";
import { counted } from "../ui/pieces.ts";

/** A rule in words. Pure. */

const OPS: Readonly<Record<Condition["op"], string>> = {
  eq: "is",
  neq: "isn't",
  gte: "≥",
  lte: "≤",
  in: "is one of",
  matches: "matches",
  not_in: "isn't one of",
  not_matches: "doesn't match",
};

/** "error or worse, from web, with “payment” in it, duration_ms ≥ 2000" */
export function whenWords({
  match,
  conditions,
  missing,
}: Pick<RuleBody, "match" | "conditions" | "missing">): string {
  const {
    min_level,
    sources,
    tags,
    template_contains: text,
    first_seen_days: days,
    unusual,
  } = match;
  const parts = [
    min_level === null
      ? "any event"
      : min_level >= 500
        ? levelWord(min_level)
        : `${levelWord(min_level)} or worse`,
    sources.length > 0 && `from ${anyOf(sources)}`,
    tags.length > 0 && `tagged ${anyOf(tags)}`,
    text !== "" && `with “${text}” in it`,
    days !== null && `never heard of before or not for ${counted(days, "day")}`,
    unusual !== null &&
      `more than ${unusual.factor} times as many as usual and at least ${unusual.at_least}`,
    ...conditions.map(conditionWords),
    missing !== null && missingWords(missing),
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function missingWords(missing: NonNullable<RuleBody["missing"]>): string {
  const how = "no longer comes, by the rhythm of two weeks";
  const { template, source } = missingSubject(missing);
  if (source !== null) return `once nothing of ${source} comes, by the rhythm of two weeks`;
  return template === null
    ? `of each template that ${how}`
    : `of template ${template} once it ${how}`;
}

export function conditionWords({ key, op, value }: Condition): string {
  return `${key} ${OPS[op]} ${Array.isArray(value) ? anyOf(value) : String(value)}`;
}

/** "at the first event", "after 3 events from 2 sources within 5 min, one alert for each provider" */
export function firesWords({
  fire_after: fire,
  identifier_keys: keys,
  for_minutes: wait,
  missing,
}: RuleBody): string {
  const many = fire.count > 1 || fire.distinct_sources > 1;
  const first = many
    ? `after ${counted(fire.count, "event")}${fire.distinct_sources > 1 ? ` from ${fire.distinct_sources} sources` : ""} within ${minutesWords(fire.window_minutes)}`
    : "at the first event";
  if (missing !== null)
    return `once it is missing${keys.length === 0 ? "" : `, one alert for each ${keys.join(" and ")}`}`;
  const lasting = wait === 0 ? first : `${first}, if it lasts ${minutesWords(wait)}`;
  return keys.length === 0 ? lasting : `${lasting}, one alert for each ${keys.join(" and ")}`;
}

function anyOf(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
