import { LRUCache } from "lru-cache";
import { atMost } from "../../ground/kit/at-most.ts";
import { syntaxFault, takesWhole, type ValuePattern, valuePattern } from "../projects/pattern.ts";
import { type Labelled, valuesOf } from "../quiet/labels.ts";

/** What people write of labels in a query: `label:host=db7`, `label:host~"db.*"`, `-label:zone=eu`, `label:host`. */

export type LabelPart = ReturnType<typeof labelPart>;

/** Whether any known value is as the part says, or none is where it says not. */
type TakesLabels = (of: Labelled) => boolean;

/** Steps that all patterns of a query may come to: each value of each alert is compared with each. */
const MOST_STEPS = 200;
/** Values that a pattern was compared with are remembered: most alerts have the same. */
const REMEMBERED = 10_000;

const NAME = String.raw`"(?:[^"\\]|\\.)*"|[^\s"=~!]+`;
/** The parts of a query that are about labels, for the expression that reads all of it. */
export const LABEL_PART = String.raw`(?<not>-?)label:(?<label>${NAME})(?:(?<op>!?[=~])(?<text>"(?:[^"\\]|\\.)*"|[^\s"]*))?(?=\s|$)`;

export function labelPart(groups: Readonly<Record<string, string | undefined>>) {
  const { not, label = "", op = "", text = "" } = groups;
  const isPattern = op.endsWith("~");
  const compare: "=" | "~" = isPattern ? "~" : "=";
  return {
    name: unquoted(label),
    /** How a value is compared: as text or as a pattern of the whole value; null: any value. */
    op: op === "" ? null : compare,
    // In a pattern a backslash is the pattern's own.
    text: isPattern ? text.replace(/^"(.*)"$/s, "$1") : unquoted(text),
    /** Whether an alert must not be like that. */
    isNot: (not === "-") !== op.startsWith("!"),
  };
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, "$1") : text;

const PARTS = new RegExp(String.raw`(?<!\S)${LABEL_PART}`, "gi");

/** A query that asks for this value of a label, and for nothing else of it; null: for nothing of it. */
export function withLabel(q: string, name: string, value: string | null): string {
  const rest = q
    .replace(PARTS, (...found) => {
      const part = labelPart(found.at(-1) as Record<string, string | undefined>);
      return part.name === name ? "" : (found[0] as string);
    })
    .replaceAll(/\s+/g, " ")
    .trim();
  if (value === null) return rest;
  return `${rest} ${labelPartText({ name, op: "=", text: value, isNot: false })}`.trim();
}

/** A part as it is written. */
export function labelPartText({ name, op, text, isNot }: LabelPart): string {
  const bare = /^[^\s"=~!\\]+$/.test(name) ? name : quoted(name);
  const value =
    op === "~" ? `"${text}"` : /^[^\s"\\]+$/.test(text) ? text : op === null ? "" : quoted(text);
  return `${isNot ? "-" : ""}label:${bare}${op ?? ""}${value}`;
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** What is wrong with the patterns of these parts; null: nothing. */
export function labelFault(parts: readonly LabelPart[]): string | null {
  const patterns = parts.filter(({ op }) => op === "~").map(({ text }) => valuePattern(text));
  const steps = patterns.reduce((sum, one) => sum + one.steps, 0);
  if (steps > MOST_STEPS)
    return `has patterns of ${steps} steps with their repeats written out: at most ${MOST_STEPS} are taken`;
  for (const { text } of patterns) {
    const fault = syntaxFault(text);
    if (fault !== null) return `has a pattern that can't be read: "${text}" ${fault}`;
  }
  return null;
}

/** Whether an alert's labels are as all of these say; where a pattern can't be run none are. */
export function compileLabelParts(parts: readonly LabelPart[]): TakesLabels {
  if (labelFault(parts) !== null) return () => false;
  const all = parts.map(({ name, op, text, isNot }) => {
    const holds = op === null ? () => true : op === "=" ? (v: string) => v === text : like(text);
    return (of: Labelled) => valuesOf(of, name).some(holds) !== isNot;
  });
  return (of) => all.every((takes) => takes(of));
}

function like(text: string): (value: string) => boolean {
  const pattern: ValuePattern = valuePattern(text);
  const known = new LRUCache<string, boolean>(atMost(REMEMBERED));
  return (value) => {
    let takes = known.get(value);
    if (takes === undefined) {
      takes = takesWhole(pattern, value);
      known.set(value, takes);
    }
    return takes;
  };
}
