import { syntaxFault } from "../../../core/projects/pattern.ts";
import { literalsOf } from "../alertmanager/literals.ts";
import type { LabelMatcher } from "../alertmanager/matchers.ts";
import type { Given } from "../team/given.ts";
import { literal } from "../team/routes.ts";

/** Which alerts a routing rule takes, as its conditions compare keys that the box's events of Opsgenie's senders have. */

/** The keys of events that have the fields. */
const KEYS: Readonly<Record<string, string>> = {
  entity: "entity",
  source: "source",
  priority: "priority",
  message: "opsgenie.message",
  alias: "opsgenie.alias",
  description: "opsgenie.description",
  tags: "opsgenie.tags",
};
/** Keys that events have of fields, so that no extra property is seen there. */
const RESERVED = [...Object.values(KEYS), "responders"];

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
  const [field, own] = [given.text("field"), given.text("key")];
  const operation = given.text("operation").toLowerCase() || "equals";
  const isExtra = field === "extra-properties";
  const key = isExtra ? own : KEYS[field];
  if (key === undefined || key === "" || (isExtra && RESERVED.includes(key)))
    return `conditions here compare what an event has as keys, and ${isExtra ? `the extra property ${key}` : field || "its field"} is none`;
  const expected = given.text("expectedValue");
  const value = field === "priority" ? expected.toUpperCase() : expected;
  const isNot = given.raw("not") === true;
  const is = (value: string) => ({ name: key, op: isNot ? "!=" : "=", value }) as const;
  const like = (value: string) => ({ name: key, op: isNot ? "!~" : "=~", value }) as const;
  if (operation === "is-empty" && field !== "message" && field !== "alias") return is("");
  const whole = value === "" ? null : patternOf({ field, operation, value });
  if (whole === null) return `no condition here says ${operation} of ${isExtra ? key : field}`;
  return whole === "equals" ? is(value) : like(whole);
}

/** A pattern that the whole value has to match; null: none says exactly what is compared there. */
function patternOf({ field, operation, value }: Record<"field" | "operation" | "value", string>) {
  if (field === "tags") return operation === "matches" ? tagPattern(value) : null;
  if (operation === "equals") return "equals";
  if (operation === "starts-with") return `(?s)${literal(value)}.*`;
  // A key is cut after 4 KiB, and a description may be longer.
  if (field === "description") return null;
  if (operation === "contains") return `(?s).*${literal(value)}.*`;
  if (operation === "ends-with") return `(?s).*${literal(value)}`;
  return operation === "matches" && isCommon(value) ? value : null;
}

/** One of the tags, which the key has with commas between them, is one of these texts. */
function tagPattern(value: string): string | null {
  const texts = literalsOf(value);
  if (texts === null || texts.some((text) => text === "" || text.includes(","))) return null;
  return `(?s)(?:.*,)?(?:${texts.map(literal).join("|")})(?:,.*)?`;
}

const COMMON =
  /^(?:\\[dw]|\\[^\p{L}\p{N}]|\((?:\?:|\?i\))?|[)|.^$]|\[\^?(?:\\[dw]|\\[^\p{L}\p{N}]|[^\\[\]&])+\]|(?:[?*+]|\{\d+(?:,\d*)?\})\??(?!\+)|[^\\()[\]{}|.^$?*+])*$/su;

/** Whether a pattern means the same in Java, which Opsgenie uses, and in RE2. */
const isCommon = (pattern: string) => COMMON.test(pattern) && syntaxFault(pattern) === null;
