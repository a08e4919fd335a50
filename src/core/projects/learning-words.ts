import type { Rule } from "./rule.ts";

/** In words, until when such a rule opens nothing; empty where it is over. `when` writes a time. */
export function learningWords(
  { learning = [], compares_from: from }: Pick<Rule, "learning" | "compares_from">,
  { now, when }: { now: number; when(at: number): string },
): string[] {
  const told = learning.map(({ source, until }) =>
    until === null ? `${source} (it sent nothing yet)` : `${source} until ${when(until)}`,
  );
  return [
    ...(from === null
      ? [
          "What comes is learned for two weeks, which begin with the first event: until then this rule opens nothing.",
        ]
      : []),
    ...(typeof from === "number" && from > now
      ? [`What comes is learned for two weeks: this rule opens nothing before ${when(from)}.`]
      : []),
    ...(told.length > 0
      ? [
          `What a source says in its first 24 hours is learned, and nothing of it is new to this rule: ${told.join(", ")}.`,
        ]
      : []),
  ];
}
