import { RE2JS, RE2JSSyntaxException } from "re2js";
import { z } from "zod";
import { list, text } from "../kit/fields.ts";
import { ownValue } from "../kit/own-value.ts";
import { fits } from "../kit/text.ts";

/** A comparison with a key of an event, or of an alert: what rules and silences have in common. */

const operators = ["eq", "neq", "gte", "lte", "in", "matches"] as const;

/** Most texts that `in` lists. */
const MOST_TEXTS = 100;
/** Characters of a pattern. */
const LONGEST_PATTERN = 256;

export const condition = z
  .strictObject({
    key: text(256, 1).describe("A key of the event; one that isn't there passes only neq."),
    op: z
      .enum(operators, { error: `must be one of ${operators.join(", ")}` })
      .describe(
        "eq and neq compare text, gte and lte numbers; in takes any of a list of texts, matches a pattern (RE2) of the whole value.",
      ),
    value: z.union([text(4096), z.number(), z.boolean(), list(text(4096), MOST_TEXTS)], {
      error: "must be a string, number or boolean, or with in a list of strings",
    }),
  })
  .superRefine(({ op, value }, context) => {
    const fault = faultOf(op, value);
    if (fault !== null) context.addIssue({ code: "custom", path: ["value"], message: fault });
  });
export type Condition = z.output<typeof condition>;

type Keys = Readonly<Record<string, string>> | null;

function faultOf(op: Condition["op"], value: Condition["value"]): string | null {
  if (op === "matches") return patternFault(value);
  if (op !== "in") return Array.isArray(value) ? `is no list with ${op}` : null;
  if (!Array.isArray(value)) return "must be a list of strings with in";
  return value.length === 0 ? "must name at least one" : null;
}

function patternFault(value: Condition["value"]): string | null {
  if (typeof value !== "string") return "must be a pattern with matches";
  if (!fits(value, LONGEST_PATTERN)) return `must have at most ${LONGEST_PATTERN} characters`;
  try {
    RE2JS.compile(value);
    return null;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return `is no pattern: ${error.message}`;
  }
}

/**
 * eq, neq and in compare strings; gte and lte compare numbers and fail where either side is no finite number; matches takes
 * time that grows with the value's length, whatever the pattern. A missing key fails all but neq.
 */
export function compileCondition({ key, op, value }: Condition): (keys: Keys) => boolean {
  const read = (keys: Keys) => ownValue(keys, key);
  if (Array.isArray(value)) {
    const texts = new Set(value);
    return (keys) => {
      const sent = read(keys);
      return sent !== undefined && texts.has(sent);
    };
  }
  const text = String(value);
  if (op === "matches") {
    const pattern = RE2JS.compile(text);
    return (keys) => {
      const sent = read(keys);
      return sent !== undefined && pattern.testExact(sent);
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
