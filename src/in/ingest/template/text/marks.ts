/* The marks inside a shape, and how a person reads them. */

/** A variable part inside a shape. Messages can't hold it: control characters are escaped first. */
export const WILD = 1;
/** A word that evidence has shown to vary, inside a pattern. */
export const SLOT = 4;
/** Stands for a header that was recognised. */
export const HEADER = 3;

/** Behind it stands a hash of the rest of a long shape. */
export const REST = 5;

export const WILD_TEXT = "<*>";

/** What a person reads: the shape with `<*>` for what varies. */
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
