import type { LabelCondition } from "../projects/condition.ts";

/** Conditions on labels as people type them: `host=db7`, `service=~web.*`, `zone!=eu`, `pod!~test-.*`. */

const OPS = { "=": "eq", "!=": "neq", "=~": "matches", "!~": "not_matches" } as const;

/** null where it is none. */
export function readLabel(text: string): LabelCondition | null {
  const [, key, op, value] = /^\s*([^=!~]+?)\s*(=~|!~|!=|=)(.*)$/s.exec(text) ?? [];
  if (key === undefined || op === undefined || value === undefined) return null;
  return { key, op: OPS[op as keyof typeof OPS], value };
}

/** A condition in short; of a list all that it names. */
export function labelText({ key, op, value }: LabelCondition): string {
  const sign = Object.entries(OPS).find(([, name]) => name === op)?.[0];
  if (sign !== undefined) return `${key}${sign}${value}`;
  const texts = Array.isArray(value) ? value.join(", ") : String(value);
  return `${key} ${op === "in" ? "is one of" : "is none of"} ${texts}`;
}
