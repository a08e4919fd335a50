import * as z from "zod";
import { list, text } from "../../ground/kit/fields.ts";
import { ownValue } from "../../ground/kit/own-value.ts";
import {
  type PatternTime,
  sizeFault,
  syntaxFault,
  type ValuePattern,
  valuePattern,
} from "./pattern.ts";

/** A comparison with a key of an event, or of an alert: what rules and silences have in common. */

const plain = ["eq", "neq", "gte", "lte", "in", "matches"] as const;
const operators = [...plain, "not_in", "not_matches"] as const;
type Operator = (typeof operators)[number];

/** Most texts that `in` lists. */
const MOST_TEXTS = 100;
/** Conditions that stand together, and what their patterns may come to in all. */
const MOST_CONDITIONS = 100;
const MOST_STEPS = 2_400;

const conditionOf = <const O extends readonly Operator[]>(
  ops: O,
  words: { key: string; op: string },
) =>
  z
    .strictObject({
      key: text(256, 1).describe(words.key),
      op: z.enum(ops, { error: `must be one of ${ops.join(", ")}` }).describe(words.op),
      value: z.union([text(4096), z.number(), z.boolean(), list(text(4096), MOST_TEXTS)], {
        error: "must be a string, number or boolean, or a list of strings with in and not_in",
      }),
    })
    .superRefine(({ op, value }, context) => {
      const fault = faultOf(op, value);
      if (fault !== null) context.addIssue({ code: "custom", path: ["value"], message: fault });
    });

const COMPARES =
  "eq and neq compare text, gte and lte numbers; in takes any of a list of texts, matches a pattern (RE2) of the whole value";

export const condition = conditionOf(operators, {
  key: "A key of the event; one that isn't there passes only neq, not_in and not_matches.",
  op: `${COMPARES}; not_in and not_matches are their opposites.`,
});
export type Condition = z.output<typeof condition>;

const allOf = <T extends z.ZodType<Condition>>(one: T, most: number = MOST_CONDITIONS) =>
  list(one, most)
    .superRefine((all: Condition[], context) => {
      // What is refused for its size alone is not counted and not compiled.
      const texts = all.map(({ op, value }) =>
        isPattern(op) && faultOf(op, value) === null ? String(value) : null,
      );
      const steps = texts.reduce(
        (sum, text) => sum + (text === null ? 0 : valuePattern(text).steps),
        0,
      );
      const fault = (path: (string | number)[], message: string) =>
        context.addIssue({ code: "custom", path, message });
      if (steps > MOST_STEPS)
        return fault([], `have patterns of ${steps} steps: at most ${MOST_STEPS} are allowed`);
      for (const [i, text] of texts.entries()) {
        const wrong = text === null ? null : syntaxFault(text);
        if (wrong !== null) fault([i, "value"], wrong);
      }
    })
    .default([]);

/** Those of a rule: all must hold. */
export const conditions = allOf(condition);

/** Those of a silence: none that holds of an identifier which an alert doesn't have, but `neq`. */
export const silenceConditions = allOf(
  conditionOf(plain, {
    key: "An identifier of the alert; one that isn't there passes only neq.",
    op: `${COMPARES}.`,
  }),
);

const onLabels = ["eq", "neq", "in", "not_in", "matches", "not_matches"] as const;
const MOST_LABELS = 20;

/** Those of a silence that compare labels. */
export const labelConditions = allOf(
  conditionOf(onLabels, {
    key: "A label of the alert; one that isn't there passes only neq, not_in and not_matches.",
    op: "eq and neq compare text; in takes any of a list of texts, matches a pattern (RE2) of the whole value; not_in and not_matches are their opposites.",
  }),
  MOST_LABELS,
);

export type LabelCondition = z.output<typeof labelConditions>[number];

export const isPattern = (op: Operator) => op === "matches" || op === "not_matches";
const isList = (op: Operator) => op === "in" || op === "not_in";

type Keys = Readonly<Record<string, string>> | null;

/** Whether it holds of these keys; null: its pattern can't be run, or not now, so that it isn't known. */
export type Holds = (keys: Keys, time: PatternTime) => boolean | null;

function faultOf(op: Condition["op"], value: Condition["value"]): string | null {
  if (isPattern(op))
    return typeof value === "string" ? sizeFault(value) : `must be a pattern with ${op}`;
  if (!isList(op)) return Array.isArray(value) ? `is no list with ${op}` : null;
  if (!Array.isArray(value)) return `must be a list of strings with ${op}`;
  return value.length === 0 ? "must name at least one" : null;
}

/**
 * eq, neq, in and not_in compare strings; gte and lte compare numbers and fail where either side is no finite number; matches
 * and not_matches take time that grows with the value's length, whatever the pattern. A missing key fails all but neq, not_in
 * and not_matches.
 */
export function compileCondition({ key, op, value }: Condition): Holds {
  const read = (keys: Keys) => ownValue(keys, key);
  if (Array.isArray(value)) {
    const texts = new Set(value);
    const wanted = op === "in";
    return (keys) => {
      const sent = read(keys);
      return (sent !== undefined && texts.has(sent)) === wanted;
    };
  }
  const text = String(value);
  if (isPattern(op)) {
    const wanted = op === "matches";
    let pattern: ValuePattern | null = null;
    return (keys, time) => {
      const sent = read(keys);
      if (sent === undefined) return !wanted;
      pattern ??= valuePattern(text);
      const held = time.run(pattern, sent);
      return held === null ? null : held === wanted;
    };
  }
  if (op === "eq") return (keys) => read(keys) === text;
  if (op === "neq") return (keys) => read(keys) !== text;
  const number = finite(text);
  const holds =
    op === "gte"
      ? (n: number, bound: number) => n >= bound
      : (n: number, bound: number) => n <= bound;
  return (keys) => {
    const sent = read(keys);
    const n = sent === undefined ? null : finite(sent);
    return n !== null && number !== null && holds(n, number);
  };
}

/** The finite number that a text writes in decimal, or null: "", " ", "0x10" and "Infinity" are none. */
function finite(text: string): number | null {
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return null;
  const n = Number(text);
  return Number.isFinite(n) ? n : null;
}
