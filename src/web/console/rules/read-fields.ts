import { type RuleBody, ruleCreate } from "../../../core/projects/rule.ts";
import { onlyRead } from "../../../ground/kit/field-kind.ts";
import { readBody } from "../../http/read-request.ts";
import { ruleRead } from "../../http/resources/rules.ts";
import {
  readJsonField,
  readNumber,
  splitList,
  WRITTEN_AS_JSON,
  withoutAbsent,
} from "../ui/plain.ts";
import { stepsOfFields } from "../ui/steps-form.ts";
import { type PartOfRule, simpleRuleFields } from "./fields.ts";

/** What a form says of a rule, as the body of the interface: for `ruleCreate` to take or to refuse. Throws 400 for what is no JSON. */
export function bodyOfFields(form: URLSearchParams): Record<string, unknown> {
  const text = form.get("json");
  if (text !== null) {
    const body = readBody(text, onlyRead(ruleRead, ruleCreate));
    // Anything but an object is for the schema to refuse.
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : { "": body };
  }
  const of = reader(form);
  const ladder = form.get("ladder") ?? "";
  const parts: Record<PartOfRule, unknown> = {
    match: {
      min_level: readNumber(form.get("level") ?? "") ?? null,
      sources: of.list("sources"),
      tags: of.list("tags"),
      template_contains: of.text("template_contains"),
      first_seen_days: of.number("first_seen_days") ?? null,
      unusual: unusualOf(of.number("unusual_factor"), of.number("unusual_at_least")),
    } satisfies Record<keyof RuleBody["match"], unknown>,
    missing: missingOf(form.get("missing_is") ?? "", of.text("missing_of")),
    conditions: [...form.getAll("cond").flatMap((id) => conditionOf(form, id)), ...ticked(form)],
    fire_after: withoutAbsent({
      count: of.number("count"),
      distinct_sources: of.number("distinct_sources"),
      window_minutes: of.number("window_minutes"),
    } satisfies Record<keyof RuleBody["fire_after"], unknown>),
    actions: form.get("actions_are") === "these" ? form.getAll("action") : null,
    ladder: ladder === "" ? null : ladder,
    escalations: ladder === "" ? stepsOfFields(form) : [],
    silenced_by: form.getAll("above").flatMap((id) => {
      const rule = of.text(`q${id}_rule`);
      return rule === "" ? [] : [{ rule, equal: of.list(`q${id}_equal`) }];
    }),
  };
  const simple = simpleRuleFields.map(({ name, kind }) => [name, of[kind](name)]);
  return { name: form.get("name") ?? "", ...withoutAbsent(Object.fromEntries(simple)), ...parts };
}

/** Nothing where neither number is typed. */
function unusualOf(factor: unknown, at_least: unknown) {
  return factor === undefined && at_least === undefined
    ? null
    : withoutAbsent({
        factor,
        at_least,
      } satisfies Record<keyof NonNullable<RuleBody["match"]["unusual"]>, unknown>);
}

function missingOf(is: string, of: unknown) {
  if (is === "any") return true;
  if (is === "source") return { source: of };
  return is === "template" ? { template_id: of } : null;
}

/** Conditions by the rows that count: one of which nothing was typed is none. */
export function rowsThatCount(form: URLSearchParams): string[] {
  return form.getAll("cond").filter((id) => conditionOf(form, id).length > 0);
}

function reader(form: URLSearchParams) {
  const asJson = new Set(form.getAll(WRITTEN_AS_JSON));
  const read = <T>(name: string, plain: (text: string) => T): unknown => {
    const text = form.get(name) ?? "";
    return asJson.has(name) ? readJsonField(text) : plain(text);
  };
  return {
    text: (name: string) => read(name, (text) => text),
    list: (name: string) => read(name, splitList),
    number: (name: string) => readNumber(form.get(name) ?? ""),
    switch: (name: string): unknown => form.has(name),
  };
}

function conditionOf(form: URLSearchParams, id: string) {
  const key = reader(form).text(`c${id}_key`);
  const op = form.get(`c${id}_op`) ?? "eq";
  const text = form.get(`c${id}_value`) ?? "";
  if (key === "" && text === "") return [];
  return [{ key, op, value: typedValue(op, text, form.get(`c${id}_as`) ?? "") }];
}

const NUMERIC = /^-?\d+(\.\d+)?$/;

function typedValue(op: string, text: string, as: string): unknown {
  if (as === "json") return readJsonField(text);
  if (op === "in" || op === "not_in") return splitList(text);
  if (as === "number" && String(Number(text)) === text) return Number(text);
  if (as === "boolean" && (text === "true" || text === "false")) return text === "true";
  const isNew = as === "" && (op === "gte" || op === "lte");
  return isNew && NUMERIC.test(text) ? Number(text) : text;
}

/** Keys of the line that a rule is made from, where they were ticked. */
function ticked(form: URLSearchParams) {
  return form.getAll("also").map((offer) => {
    const pair = readJsonField(offer);
    const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
    return { key, op: "eq", value };
  });
}
