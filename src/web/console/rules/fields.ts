import type { Condition } from "../../../core/projects/condition.ts";
import type { RuleBody } from "../../../core/projects/rule.ts";
import { isOneLine, joinList, WRITTEN_AS_JSON } from "./plain.ts";

/**
 * A rule as the fields of its form. Rows of a kind are groups: the hidden fields `cond`, `step` and `above` name them in
 * order, `c0_key` belongs to the condition `0`. What `bodyOfFields` reads of it is the same rule.
 */
export function fieldsOfRule({ name, ...rule }: RuleBody & { name: string }): URLSearchParams {
  const fields = new URLSearchParams({ name });
  const put = putter(fields);
  const { match, fire_after: fire } = rule;
  fields.set("level", match.min_level === null ? "" : String(match.min_level));
  put.list("sources", match.sources);
  put.list("tags", match.tags);
  put.text("template_contains", match.template_contains);
  rule.conditions.forEach((one, i) => {
    putCondition(fields, String(i), one);
  });
  for (const [key, value] of Object.entries(fire)) fields.set(key, String(value));
  put.list("identifier_keys", rule.identifier_keys);
  rule.escalations.forEach((step, i) => {
    fields.append("step", String(i));
    for (const account of step.accounts) fields.append(`s${i}_who`, `a:${account}`);
    for (const schedule of step.schedules) fields.append(`s${i}_who`, `s:${schedule}`);
    fields.set(`s${i}_after`, String(step.after_minutes));
    fields.set(`s${i}_repeat`, String(step.repeat_minutes));
  });
  fields.set("actions_are", rule.actions === null ? "all" : "these");
  for (const id of rule.actions ?? []) fields.append("action", id);
  for (const key of NUMBERS) fields.set(key, String(rule[key]));
  for (const key of SWITCHES) if (rule[key]) fields.set(key, "on");
  put.text("runbook_url", rule.runbook_url);
  rule.silenced_by.forEach((one, i) => {
    fields.append("above", String(i));
    put.text(`q${i}_rule`, one.rule);
    put.list(`q${i}_equal`, one.equal);
  });
  return fields;
}

/** Fields that are one number each. */
export const NUMBERS = [
  ...(["auto_resolve_quiet_minutes", "dedup_window_minutes", "renotify_minutes"] as const),
  ...(["max_renotify", "reopen_within_seconds", "ack_expires_minutes", "max_open"] as const),
] as const;

/** Fields that are ticked or not. */
export const SWITCHES = ["ends_with_source", "investigate"] as const;

function putter(fields: URLSearchParams) {
  const asJson = (name: string, value: unknown) => {
    fields.set(name, JSON.stringify(value));
    fields.append(WRITTEN_AS_JSON, name);
  };
  return {
    text(name: string, value: string) {
      if (isOneLine(value)) fields.set(name, value);
      else asJson(name, value);
    },
    list(name: string, items: readonly string[]) {
      const line = joinList(items);
      if (line === null) asJson(name, items);
      else fields.set(name, line);
    },
  };
}

/** A value keeps its type, which its text alone doesn't tell: 5 and "5" are one to an event, and two to whoever reads the rule. */
function putCondition(fields: URLSearchParams, id: string, { key, op, value }: Condition): void {
  fields.append("cond", id);
  const isPlain = isOneLine(key);
  fields.set(`c${id}_key`, isPlain ? key : JSON.stringify(key));
  if (!isPlain) fields.append(WRITTEN_AS_JSON, `c${id}_key`);
  fields.set(`c${id}_op`, op);
  const [as, text] = valueAsText(value);
  fields.set(`c${id}_value`, text);
  fields.set(`c${id}_as`, as);
}

function valueAsText(value: Condition["value"]): [as: string, text: string] {
  if (Array.isArray(value)) {
    const line = joinList(value);
    return line === null ? ["json", JSON.stringify(value)] : ["list", line];
  }
  if (typeof value === "string")
    return isOneLine(value) ? ["text", value] : ["json", JSON.stringify(value)];
  return [typeof value, String(value)];
}
