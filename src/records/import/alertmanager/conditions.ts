import { sizeFault } from "../../../core/projects/pattern.ts";
import type { ImportedProject } from "../importer.ts";
import { type Clause, isLike } from "./clause.ts";
import { matcherText } from "./matchers.ts";

type RuleInput = NonNullable<ImportedProject["rules"]>[number];
export type ConditionInput = NonNullable<RuleInput["conditions"]>[number];

/**
 * A clause as conditions. `lost`: in Alertmanager's words, the parts that no condition can express. Without them the
 * conditions match more.
 */
export interface SaidClause {
  conditions: ConditionInput[];
  lost: string[];
}

const MOST_TEXTS = 100;

/**
 * `missing`: how a missing label is compared. Rules have no such key, and only neq matches; silences compare the
 * alert's identifiers, where it is the empty text.
 */
export function conditionsOf(clause: Clause, missing: "absent" | "empty"): SaidClause {
  const all: SaidClause = { conditions: [], lost: [] };
  for (const [key, constraint] of clause) {
    const { any, not, like, unlike } = constraint;
    const lose = (op: "=" | "=~" | "!~", value: string) =>
      all.lost.push(matcherText({ name: key, op, value }));
    const say = (op: ConditionInput["op"], value: ConditionInput["value"]) =>
      all.conditions.push({ key, op, value });
    if (any !== null) {
      const texts = [...any];
      const isSayable = missing === "empty" || !any.has("");
      if (!isSayable || texts.length > MOST_TEXTS) lose(...anyOf(texts));
      else if (texts.length > 1) say("in", texts);
      else say("eq", texts[0] ?? "");
      continue;
    }
    const isThere = not.has("") || like.some((pattern) => !isLike(pattern, ""));
    const canSay = (pattern: string) =>
      (missing === "empty" || isThere) && sizeFault(pattern) === null;
    for (const value of not) if (value !== "") say("neq", value);
    for (const pattern of like)
      if (canSay(pattern)) say("matches", pattern);
      else lose("=~", pattern);
    if (not.has("") && !like.some(canSay)) say("matches", "(?s).+");
    for (const pattern of unlike) lose("!~", pattern);
  }
  return all;
}

function anyOf(texts: readonly string[]): ["=" | "=~", string] {
  return texts.length === 1 ? ["=", texts[0] ?? ""] : ["=~", texts.join("|")];
}
