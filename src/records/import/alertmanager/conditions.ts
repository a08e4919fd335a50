import { sizeFault } from "../../../core/projects/pattern.ts";
import type { ImportedProject } from "../importer.ts";
import { type Clause, type Constraint, isLike } from "./clause.ts";
import { matcherText } from "./matchers.ts";

type RuleInput = NonNullable<ImportedProject["rules"]>[number];
export type ConditionInput = NonNullable<RuleInput["conditions"]>[number];

/** A clause as conditions. `lost`: what no condition can express; without it they match more. */
interface ClauseConditions {
  conditions: ConditionInput[];
  lost: string[];
}

const MOST_TEXTS = 100;

/**
 * How a missing label is compared. A rule sees no such key; only neq, not_in and not_matches hold. A silence compares the
 * alert's identifiers, where it is the empty text.
 */
type Missing = "absent" | "empty";

export function conditionsOf(clause: Clause, missing: Missing): ClauseConditions {
  const parts = [...clause].map(([key, constraint]) => conditionsOn(key, constraint, missing));
  return {
    conditions: parts.flatMap(({ conditions }) => conditions),
    lost: parts.flatMap(({ lost }) => lost),
  };
}

/** Any value but the empty text. */
const THERE = "(?s).+";

const canSay = (pattern: string) => sizeFault(pattern) === null;

function conditionsOn(key: string, constraint: Constraint, missing: Missing): ClauseConditions {
  const { any, not, like, unlike } = constraint;
  const isAbsent = missing === "absent";
  const all: ClauseConditions = { conditions: [], lost: [] };
  const say = (op: ConditionInput["op"], value: ConditionInput["value"]) =>
    all.conditions.push({ key, op, value });
  const lose = (op: "=" | "=~" | "!~", value: string) =>
    all.lost.push(matcherText({ name: key, op, value }));
  if (any !== null) {
    const texts = [...any];
    if (isAbsent && any.has("") && any.size === 1) say("not_matches", THERE);
    else if ((isAbsent && any.has("")) || any.size > MOST_TEXTS) lose(...anyOf(texts));
    else if (any.size > 1) say("in", texts);
    else say("eq", texts[0] ?? "");
    return all;
  }
  const isThere =
    not.has("") ||
    like.some((pattern) => !isLike(pattern, "")) ||
    unlike.some((pattern) => isLike(pattern, ""));
  const others = [...not].filter((value) => value !== "");
  if (isAbsent && others.length > 1 && others.length <= MOST_TEXTS) say("not_in", others);
  else for (const value of others) say("neq", value);
  const said = like.filter((pattern) => (isThere || !isAbsent) && canSay(pattern));
  for (const pattern of said) say("matches", pattern);
  for (const pattern of like) if (!said.includes(pattern)) lose("=~", pattern);
  if (isThere && said.every((pattern) => isLike(pattern, ""))) say("matches", THERE);
  for (const pattern of unlike)
    if (isAbsent && canSay(pattern)) say("not_matches", pattern);
    else lose("!~", pattern);
  return all;
}

function anyOf(texts: readonly string[]): ["=" | "=~", string] {
  return texts.length === 1 ? ["=", texts[0] ?? ""] : ["=~", texts.join("|")];
}
