import { readFileSync } from "node:fs";
import type { Dice, Make } from "./template-dice.ts";

/**
 * Events with labels, one a line: those of fifty widespread programs as their sources write them, then two earlier batches. All values are made up. All were written before the rules were run on one; those of `template-held.txt` are held back from the rules.
 * `# program`, `= name value|value`. In a line: `{name}` one of its values, or what the dice have by that name; `{one|other}`; `{99}` a number below; `{x8}` eight digits, hexadecimal (`X` upper case, `U` capitals and digits, `b` letters and digits, `p` as in a pod's name); `¶` a line's end, `⇥` a tab.
 */
export function eventsOf(half: "shown" | "held"): Make[] {
  const lines = readFileSync(new URL(`template-${half}.txt`, import.meta.url), "utf8").split("\n");
  const lists = new Map(
    lines.flatMap((line) => {
      const [, name = "", values = ""] = /^= (\w+) (.*)$/.exec(line) ?? [];
      return name === "" ? [] : [[name, values] as const];
    }),
  );
  const events = lines.filter((line) => line !== "" && !/^[#=] /.test(line));
  return events.map((event) => (dice) => {
    const line = filled(event, dice, lists);
    return line.replaceAll("¶", "\n").replaceAll("⇥", "\t");
  });
}

function filled(text: string, dice: Dice, lists: ReadonlyMap<string, string>): string {
  let made = "";
  for (let i = 0; i < text.length; i++) {
    const end = text[i] === "{" ? closing(text, i) : -1;
    const value = end < 0 ? null : chosen(text.slice(i + 1, end), dice, lists);
    if (value === null) made += text[i];
    else {
      made += filled(value, dice, lists);
      i = end;
    }
  }
  return made;
}

/** Where the bracket that opens at `start` closes; -1 if nowhere. */
function closing(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}

const ALPHABETS: Record<string, string> = {
  x: "0123456789abcdef",
  X: "0123456789ABCDEF",
  U: "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ",
  b: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  p: "bcdf2456789",
};

/** What stands for the words in brackets; null if the brackets are the event's own. */
function chosen(inside: string, dice: Dice, lists: ReadonlyMap<string, string>): string | null {
  if (inside.includes('"')) return null;
  if (/^\d+$/.test(inside)) return String(dice.below(Number(inside) + 1));
  const [, kind = "", length = ""] = /^([xXUbp])(\d+)$/.exec(inside) ?? [];
  if (kind !== "") return dice.text(ALPHABETS[kind] ?? "", Number(length));
  const listed = lists.get(inside);
  if (listed !== undefined) return oneOf(listed, dice);
  const known = /^[a-z]\w+$/i.test(inside)
    ? (dice as unknown as Record<string, unknown>)[inside]
    : null;
  if (typeof known === "string") return known;
  return split(inside).length > 1 ? oneOf(inside, dice) : null;
}

function oneOf(values: string, dice: Dice): string {
  const list = split(values);
  return list[dice.below(list.length)] ?? "";
}

/** The parts between the signs `|` that stand in no brackets. */
function split(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    depth += char === "{" ? 1 : char === "}" ? -1 : 0;
    if (char === "|" && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts;
}
