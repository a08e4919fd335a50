import type { Condition } from "../../../core/projects/condition.ts";
import { missingSubject } from "../../../core/projects/missing.ts";
import { type RuleBody, ruleFields } from "../../../core/projects/rule.ts";
import { simpleFields } from "../../../ground/kit/field-kind.ts";
import { isOneLine, joinList, WRITTEN_AS_JSON } from "../ui/plain.ts";
import { putSteps } from "../ui/steps-form.ts";

/**
 * A rule as the fields of its form. Rows of a kind are groups: the hidden fields `cond`, `step` and `above` name them in
 * order, `c0_key` belongs to the condition `0`. What `bodyOfFields` reads of it is the same rule.
 */
export function fieldsOfRule({ name, ...rule }: RuleBody & { name: string }): URLSearchParams {
  const fields = new URLSearchParams({ name });
  const put = putter(fields);
  for (const { name: key, kind } of simpleRuleFields)
    put[kind](key, rule[key as keyof RuleBody] as never);
  const parts: Record<PartOfRule, () => void> = {
    match() {
      const { min_level, sources, tags, template_contains, first_seen_days, unusual } = rule.match;
      fields.set("level", min_level === null ? "" : String(min_level));
      put.list("sources", sources);
      put.list("tags", tags);
      put.text("template_contains", template_contains);
      fields.set("first_seen_days", first_seen_days === null ? "" : String(first_seen_days));
      fields.set("unusual_factor", unusual === null ? "" : String(unusual.factor));
      fields.set("unusual_at_least", unusual === null ? "" : String(unusual.at_least));
    },
    missing() {
      const [is, of] = missingAsFields(rule.missing);
      fields.set("missing_is", is);
      put.text("missing_of", of);
    },
    conditions() {
      rule.conditions.forEach((one, i) => {
        putCondition(fields, String(i), one);
      });
    },
    fire_after() {
      for (const [key, value] of Object.entries(rule.fire_after)) fields.set(key, String(value));
    },
    ladder: () => fields.set("ladder", rule.ladder ?? ""),
    escalations() {
      // Those of a ladder of the tenant stand there.
      if (isNamed(rule)) return;
      putSteps(fields, rule.escalations);
    },
    actions() {
      fields.set("actions_are", rule.actions === null ? "all" : "these");
      for (const id of rule.actions ?? []) fields.append("action", id);
    },
    silenced_by() {
      rule.silenced_by.forEach((one, i) => {
        fields.append("above", String(i));
        put.text(`q${i}_rule`, one.rule);
        put.list(`q${i}_equal`, one.equal);
      });
    },
  };
  for (const part of Object.values(parts)) part();
  return fields;
}

function missingAsFields(missing: RuleBody["missing"]): [is: string, of: string] {
  const { template, source } = missingSubject(missing);
  if (source !== null) return ["source", source];
  if (template !== null) return ["template", template];
  return [missing === null ? "" : "any", ""];
}

/** Whether the rule refers to a ladder of the tenant. */
const isNamed = ({ ladder }: Pick<RuleBody, "ladder">): boolean => (ladder ?? null) !== null;

/** The fields of a rule that one line of the form holds. A new one in the schema is in the form without further ado. */
export const simpleRuleFields = simpleFields(ruleFields);

type Simple = number | boolean | string | string[];
/** Those that have a part of the form of their own. A new one in the schema doesn't compile until it has one here and in `bodyOfFields`. */
export type PartOfRule = {
  [K in keyof RuleBody]-?: RuleBody[K] extends Simple ? never : K;
}[keyof RuleBody];

function putter(fields: URLSearchParams) {
  const asJson = (name: string, value: unknown) => {
    fields.set(name, JSON.stringify(value));
    fields.append(WRITTEN_AS_JSON, name);
  };
  return {
    number: (name: string, value: number) => fields.set(name, String(value)),
    switch(name: string, value: boolean) {
      if (value) fields.set(name, "on");
    },
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
