/* The marks inside a shape, and how a person reads them. */

/** A variable part of a shape. Messages can't contain it, because control characters are escaped first. */
export const WILD = 1;
/** A name: a variable part of a general shape that isn't one of the shape. */
export const NAME = 2;
/** A word of a pattern that evidence has shown to be variable. */
export const SLOT = 4;
/** A header. */
export const HEADER = 3;

/** A hash of the rest of a long shape follows. */
export const REST = 5;

export function isWild(code: number): boolean {
  return code === WILD || code === NAME;
}

export const WILD_TEXT = "<*>";
const NAME_MARK = String.fromCharCode(NAME);
const WILD_MARK = String.fromCharCode(WILD);

export function hasNames(shape: string): boolean {
  return shape.includes(NAME_MARK);
}

/** The shape with the same mark for names as for other variable parts. */
export function withoutNames(shape: string): string {
  return hasNames(shape) ? shape.replaceAll(NAME_MARK, WILD_MARK) : shape;
}

/** Of two shapes that differ only in which variable parts are names: the one with the names of both. */
export function bothNames(one: string, other: string): string {
  if (one === other || !hasNames(other)) return one;
  let both = "";
  for (let i = 0; i < one.length; i++)
    both += other.charCodeAt(i) === NAME ? NAME_MARK : one.charAt(i);
  return both;
}

/** A shape as text for people, with `<*>` for the variable parts. */
export function textOfShape(shape: string): string {
  if (shape === "") return "(empty message)";
  let text = "";
  let copied = 0;
  for (let i = 0; i < shape.length; i++) {
    const code = shape.charCodeAt(i);
    if (code > REST) continue;
    if (code === REST) return `${text}${shape.slice(copied, i)}…`;
    const shown = code === HEADER && i + 1 < shape.length ? `${WILD_TEXT} ` : WILD_TEXT;
    text += shape.slice(copied, i) + shown;
    copied = i + 1;
  }
  return text + shape.slice(copied);
}
