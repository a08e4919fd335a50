/** The longest list of a condition. */
const MOST = 100;

/** The texts that a pattern matches, where it only lists them: `a|b`, `(eu|us)-1`, `db\.x`. null for other patterns. */
export function literalsOf(pattern: string): string[] | null {
  const reader = { text: pattern, at: 0 };
  const found = alternatives(reader);
  return found === null || reader.at < pattern.length ? null : [...new Set(found)];
}

interface Reader {
  text: string;
  at: number;
}

function alternatives(reader: Reader): string[] | null {
  const all: string[] = [];
  for (;;) {
    const some = sequence(reader);
    if (some === null || all.length + some.length > MOST) return null;
    all.push(...some);
    if (reader.text[reader.at] !== "|") return all;
    reader.at += 1;
  }
}

/** Reads up to the end of the alternative. `^` and `$` are ignored, because the whole value is compared anyway. */
function sequence(reader: Reader): string[] | null {
  const { text } = reader;
  let all = [""];
  let isFirst = true;
  for (;;) {
    const c = text[reader.at];
    if (c === undefined || c === "|" || c === ")") return all;
    const isEnd = [undefined, "|"].includes(text[reader.at + 1]);
    if ((c === "^" && isFirst && isOutside(reader)) || (c === "$" && isEnd && isOutside(reader))) {
      reader.at += 1;
    } else {
      const some = one(reader);
      if (some === null || /^[*+?{]/.test(text.slice(reader.at, reader.at + 1))) return null;
      if (all.length * some.length > MOST) return null;
      all = all.flatMap((before) => some.map((after) => before + after));
    }
    isFirst = false;
  }
}

function isOutside({ text, at }: Reader): boolean {
  const before = text.slice(0, at).replace(/\\./gs, "");
  return before.split("(").length === before.split(")").length;
}

function one(reader: Reader): string[] | null {
  const { text } = reader;
  const c = text[reader.at] ?? "";
  if (c === "(") {
    reader.at += text.startsWith("(?:", reader.at) ? 3 : 1;
    const inside = text[reader.at] === "?" ? null : alternatives(reader);
    if (inside === null || text[reader.at] !== ")") return null;
    reader.at += 1;
    return inside;
  }
  if (c === "\\") {
    const next = text[reader.at + 1] ?? "";
    reader.at += 2;
    // An escaped letter or digit is a class, an anchor or a code.
    return next === "" || /[\p{L}\p{N}]/u.test(next) ? null : [next];
  }
  if (/[.*+?[\]{}^$]/.test(c)) return null;
  reader.at += 1;
  return [c];
}
