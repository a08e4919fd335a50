import type { LabelMatcher } from "../alertmanager/matchers.ts";
import type { Given } from "../team/given.ts";
import { literal } from "../team/routes.ts";

/** Which alerts a routing rule takes, as its conditions compare keys that the box's events of Opsgenie's senders have. */

const FIELDS = ["entity", "source", "priority"];

/** As `GivenRoute.any`; the criteria are no `match-all`. */
export function matchersOfCriteria(criteria: Given | null): LabelMatcher[][] | string {
  const type = criteria?.text("type") ?? "";
  const given = criteria?.objects("conditions", "conditions of routing rules") ?? [];
  const read = given.map(matcherOfCondition);
  const fault = read.find((one) => typeof one === "string");
  if (typeof fault === "string") return fault;
  const matchers = read.filter((one) => typeof one !== "string");
  if (matchers.length === 0) return "it has no conditions in the files";
  if (type === "match-all-conditions") return [matchers];
  if (type === "match-any-condition") return matchers.map((one) => [one]);
  return `its criteria are ${type || "none"}`;
}

/** A text: why there is none. */
function matcherOfCondition(given: Given): LabelMatcher | string {
  const field = given.text("field");
  const expected = given.text("expectedValue");
  const value = field === "priority" ? expected.toUpperCase() : expected;
  const operation = given.text("operation").toLowerCase();
  const key = field === "extra-properties" ? given.text("key") : field;
  const isNot = given.raw("not") === true;
  if (key === "" || (field !== "extra-properties" && !FIELDS.includes(field)))
    return `conditions here compare what an event has as keys, and ${field || "its field"} is none`;
  const is = (value: string) => ({ name: key, op: isNot ? "!=" : "=", value }) as const;
  const like = (value: string) => ({ name: key, op: isNot ? "!~" : "=~", value }) as const;
  if (operation === "is-empty") return is("");
  if (value !== "" && operation === "equals") return is(value);
  if (value !== "" && operation === "contains") return like(`(?s).*${literal(value)}.*`);
  if (value !== "" && operation === "starts-with") return like(`(?s)${literal(value)}.*`);
  if (value !== "" && operation === "ends-with") return like(`(?s).*${literal(value)}`);
  return `no condition here says ${operation || "its operation"} of ${key}`;
}
