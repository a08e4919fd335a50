import { z } from "zod";
import { list, text } from "../kit/fields.ts";

/** A comparison with a key of an event, or of an alert: what rules and silences have in common. */

const operators = ["eq", "neq", "gte", "lte", "in"] as const;

/** Most texts that `in` lists. */
const MOST_TEXTS = 100;

export const condition = z
  .strictObject({
    key: text(256, 1).describe("A key of the event; one that isn't there passes only neq."),
    op: z
      .enum(operators, { error: `must be one of ${operators.join(", ")}` })
      .describe("eq and neq compare text, gte and lte numbers; in takes any of a list of texts."),
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
  if (op !== "in") return Array.isArray(value) ? `is no list with ${op}` : null;
  if (!Array.isArray(value)) return "must be a list of strings with in";
  return value.length === 0 ? "must name at least one" : null;
}

/**
 * eq, neq and in compare strings; gte and lte compare numbers and fail where either side is no finite number. A missing
 * key fails all but neq.
 */
export function compileCondition({ key, op, value }: Condition): (keys: Keys) => boolean {
  const read = (keys: Keys) => keys?.[key];
  if (Array.isArray(value)) {
    const texts = new Set(value);
    return (keys) => {
      const sent = read(keys);
      return sent !== undefined && texts.has(sent);
    };
  }
  const text = String(value);
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
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return null;
  const n = Number(text);
  return Number.isFinite(n) ? n : null;
}
