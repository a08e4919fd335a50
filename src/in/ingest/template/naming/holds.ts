import { HEADER, hasNames, NAME, REST, WILD, WILD_TEXT } from "../text/marks.ts";
import { isOrdinary } from "./grammar.ts";

/** Stands for one or more characters of a name. */
const ANY = -1;

/** Whether the text of a line with this shape can hold `part`, by what its names happen to be. */
export function mayHold(shape: string, part: string): boolean {
  if (!hasNames(shape) || part === "" || isOrdinary(part)) return false;
  const pattern = patternOf(shape);
  let states = new Set(pattern.keys());
  for (const char of part) {
    const next = new Set<number>();
    for (const at of states) {
      const expected = pattern[at] as number;
      if (expected === ANY ? char !== " " : expected === char.charCodeAt(0)) next.add(at + 1);
      if (expected === ANY && char !== " ") next.add(at);
    }
    if (next.size === 0) return false;
    states = next;
  }
  return true;
}

/** The units of the shape's text. */
function patternOf(shape: string): number[] {
  const pattern: number[] = [];
  for (let i = 0; i < shape.length; i++) {
    const code = shape.charCodeAt(i);
    if (code === REST) break;
    if (code === NAME) pattern.push(ANY);
    else if (code === WILD || code === HEADER) {
      for (const char of code === HEADER ? `${WILD_TEXT} ` : WILD_TEXT)
        pattern.push(char.charCodeAt(0));
    } else pattern.push(code);
  }
  return pattern;
}
