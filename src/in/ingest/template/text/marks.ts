/* The marks inside a shape, and how a person reads them. */

/** A variable part of a shape. Messages can't contain it, because control characters are escaped first. */
export const WILD = 1;
/** A word of a pattern that evidence has shown to be variable. */
export const SLOT = 4;
/** A header. */
export const HEADER = 3;

/** A hash of the rest of a long shape follows. */
export const REST = 5;

export const WILD_TEXT = "<*>";

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
