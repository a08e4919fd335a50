import { CLOSE_PAREN, COMMA, DOT, SPACE } from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import type { Word } from "./grammar.ts";
import { COUNTED } from "./words.ts";

/** `1 file` is written as `2 files`: the plural, or null. */
export function pluralOf({ shape, from, to, previous }: Word): string | null {
  if (previous.length !== 1 || previous.charCodeAt(0) !== WILD || to - from > 12) return null;
  const word = shape.slice(from, to);
  if (!COUNTED.has(word) || (to < shape.length && !endsCount(shape.charCodeAt(to)))) return null;
  if (word.endsWith("ry")) return `${word.slice(0, -1)}ies`;
  return /(?:s|ch)$/.test(word) ? `${word}es` : `${word}s`;
}

function endsCount(code: number): boolean {
  return code === SPACE || code === COMMA || code === DOT || code === CLOSE_PAREN;
}
