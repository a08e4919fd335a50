import { diff } from "node:util";

/** The lines that differ, with some lines of context, as `-`, `+` and ` ` lines; empty where none differ. */
export function lineDiff(before: string, after: string, around = 2): string[] {
  const linesOf = (text: string) => (text === "" ? [] : text.split("\n"));
  const lines = compare(linesOf(before), linesOf(after));
  const near = (i: number) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some(([mark]) => mark !== " ");
  const shown: string[] = [];
  let cut = false;
  for (const [i, [mark, text]] of lines.entries()) {
    if (near(i)) {
      if (cut && shown.length > 0) shown.push("…");
      shown.push(`${mark} ${text}`.trimEnd());
    }
    cut = !near(i);
  }
  return shown;
}

type Line = ["-" | "+" | " ", string];

const MARKS = { "1": "-", "-1": "+", "0": " " } as const;

/** Above this many lines all are shown as changed: Node's `diff` would take a gigabyte. */
const MOST_LINES = 4_000;

function compare(before: string[], after: string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (line: string): Line => [" ", line];
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

function middle(before: string[], after: string[]): Line[] {
  // Node's `diff` throws a TypeError where one side is empty.
  const isPlain = before.length === 0 || after.length === 0;
  if (isPlain || before.length + after.length > MOST_LINES)
    return [...before.map((line): Line => ["-", line]), ...after.map((line): Line => ["+", line])];
  return diff(before, after).map(([change, line]): Line => [MARKS[`${change}`], line]);
}
