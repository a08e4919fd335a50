/** A variable part, as templates write it. */
const WILD_TEXT = "<*>";

/** A part of a message: constant in its template, or variable. Together they are the message. */
export interface MessagePart {
  text: string;
  variable: boolean;
}

/** The template's text is cut here. */
const CUT = "…";

/**
 * Splits a message into its template's constant and variable parts. Blanks count as one, as in templates. Where the
 * text doesn't match (it was merged since, or part of the message was ignored) the message is one part. Takes time that
 * grows only with the message.
 */
export function partsOf(message: string, template: string): MessagePart[] {
  const whole = [{ text: message, variable: false }];
  const spans = template.includes(WILD_TEXT) ? spansOf(oneBlank(message), template) : null;
  if (spans === null) return whole;
  const parts: MessagePart[] = [];
  let done = 0;
  for (const [from, until] of spans) {
    if (from > done) parts.push({ text: message.slice(done, from), variable: false });
    parts.push({ text: message.slice(from, until), variable: true });
    done = until;
  }
  if (done < message.length) parts.push({ text: message.slice(done), variable: false });
  return parts;
}

/** A text with single blanks, none at its ends, and the original position of each character. */
type Plain = ReturnType<typeof oneBlank>;

const BLANKS = /\s+/g;

function oneBlank(message: string) {
  let text = "";
  const at: number[] = [];
  let done = 0;
  const take = (until: number) => {
    for (let i = done; i < until; i++) at.push(i);
    text += message.slice(done, until);
  };
  for (const blank of message.matchAll(BLANKS)) {
    take(blank.index);
    done = blank.index + blank[0].length;
    if (text === "" || done === message.length) continue;
    at.push(blank.index);
    text += " ";
  }
  take(message.length);
  return { text, at };
}

/** The positions of the variable parts; null where the template doesn't match. */
function spansOf({ text, at }: Plain, template: string): [from: number, until: number][] | null {
  const isCut = template.endsWith(CUT);
  const shown = isCut ? template.slice(0, -CUT.length) : template;
  const pieces = shown.split(WILD_TEXT).map((piece) => piece.replace(BLANKS, " "));
  const last = pieces.pop() ?? "";
  const [first = "", ...rest] = pieces;
  if (!text.startsWith(first)) return null;
  const spans: [number, number][] = [];
  const vary = (from: number, until: number) => {
    const [begin, end] = [at[from], at[until - 1]];
    if (begin !== undefined && end !== undefined) spans.push([begin, end + 1]);
  };
  let from = first.length;
  for (const piece of rest) {
    // Adjacent marks count as one.
    if (piece === "") continue;
    const found = text.indexOf(piece, from + 1);
    if (found === -1) return null;
    vary(from, found);
    from = found + piece.length;
  }
  const isAtEnd = !isCut && text.endsWith(last) && text.length - last.length > from;
  const end = isAtEnd ? text.length - last.length : last === "" ? -1 : text.indexOf(last, from + 1);
  if (end === -1 && !(isCut && last === "")) return null;
  vary(from, end === -1 ? text.length : end);
  return spans;
}
