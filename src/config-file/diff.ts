/** Lines that differ, with a few around them, as `-`, `+` and ` ` lines; empty where none do. */
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

/** By the longest common subsequence of what lies between a common beginning and end. */
function compare(before: string[], after: string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end++;
  const same = (line: string): Line => [" ", line];
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** Past this many pairs of lines everything is shown as changed: comparing them would take too long. */
const MOST_PAIRS = 20_000_000;

function middle(a: string[], b: string[]): Line[] {
  if (a.length * b.length > MOST_PAIRS)
    return [...a.map((line): Line => ["-", line]), ...b.map((line): Line => ["+", line])];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i] ?? ""]);
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push(["-", a[i++] ?? ""]);
    else lines.push(["+", b[j++] ?? ""]);
  }
  return lines;
}
