/*
 * What the small buttons do to a text. Pure: the same file runs in browsers and in tests.
 */

/** What is put in the place of the selection, and what is selected then, from the beginning of what was put in. */
export interface Insertion {
  /** Of the text, what is replaced. */
  from: number;
  until: number;
  put: string;
  select: readonly [from: number, until: number];
}

export interface Selected {
  text: string;
  from: number;
  until: number;
}

/** `**bold**`; once more takes the marks off. */
export function wrapped({ text, from, until }: Selected, mark: string, word: string): Insertion {
  const inner = text.slice(from, until);
  const n = mark.length;
  const isMarked = text.slice(from - n, from) === mark && text.slice(until, until + n) === mark;
  if (isMarked && inner !== "")
    return { from: from - n, until: until + n, put: inner, select: [0, inner.length] };
  const put = inner === "" ? word : inner;
  return { from, until, put: mark + put + mark, select: [n, n + put.length] };
}

/** Each line of the selection begins with the mark. */
export function prefixed({ text, from, until }: Selected, mark: string): Insertion {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const put = text
    .slice(start, until)
    .split("\n")
    .map((line) => mark + line)
    .join("\n");
  return { from: start, until, put, select: [put.length, put.length] };
}

/** `[words](https://…)`, with the address selected. */
export function linked({ text, from, until }: Selected): Insertion {
  const words = text.slice(from, until) || "words";
  const before = `[${words}](`;
  const address = "https://";
  const select = [before.length, before.length + address.length] as const;
  return { from, until, put: `${before}${address})`, select };
}

const TABLE = "| What | Since |\n| --- | --- |\n| Payments | 14:02 UTC |\n";

/** A table on lines of its own. */
export function tabled(at: Selected): Insertion {
  return onOwnLines(at, TABLE);
}

/** A text of several lines, apart from what stands around it. */
export function onOwnLines({ text, from, until }: Selected, lines: string): Insertion {
  const before = text.slice(0, from);
  const gap = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const put = gap + lines;
  return { from, until, put, select: [put.length, put.length] };
}

/** Of these lines those that still stand in the text as they were. */
export function untouched(text: string, lines: readonly string[]): string[] {
  const standing = new Set(text.split("\n").map((line) => line.trim()));
  return lines.filter((line) => standing.has(line.trim()));
}

/** The first line with words, without marks: what readers of the list see first. */
export function firstWords(text: string): string {
  const line = text.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  return line
    .replace(/^[\s>#*+-]+|[*_`]+/g, "")
    .trim()
    .slice(0, 80);
}
