/** Counts and cuts text as the interface does: a character is a Unicode code point (contract §2). */

export function codePoints(text: string): number {
  let n = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isLead(text.charCodeAt(i)) && isTrail(text.charCodeAt(i + 1))) {
      n--;
      i++;
    }
  }
  return n;
}

/** Whether `text` has at most `max` code points. Fast for short text. */
export function fits(text: string, max: number): boolean {
  return text.length <= max || (text.length <= max * 2 && codePoints(text) <= max);
}

/** Characters of a text that may stay in memory for a part of it. */
const SMALL = 64 * 1024;

/** The first `max` code points of `text`, never half a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  let units = 0;
  for (let n = 0; n < max && units < text.length; n++) {
    units += isLead(text.charCodeAt(units)) && isTrail(text.charCodeAt(units + 1)) ? 2 : 1;
  }
  const kept = text.slice(0, units);
  // A slice keeps the whole text in memory for as long as it lives; what JSON gives back is text of its own.
  return text.length > SMALL ? JSON.parse(JSON.stringify(kept)) : kept;
}

/** Without lone surrogates and NUL, so that it reads back as it was sent. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** An event's message as it is stored: lone surrogates and NUL become U+FFFD (contract §2). */
export function storableMessage(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\uFFFD") : whole;
}

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isTrail(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Cuts between characters, to at most `most` bytes of UTF-8. */
export function withinBytes(whole: string, most: number): string {
  if (Buffer.byteLength(whole) <= most) return whole;
  let bytes = Buffer.byteLength("…");
  let kept = "";
  for (const char of whole) {
    bytes += Buffer.byteLength(char);
    if (bytes > most) break;
    kept += char;
  }
  return `${kept}…`;
}

/** As `cut`; text that was cut ends in `…`. */
export function ellipsis(whole: string, most: number): string {
  const kept = cut(whole, most);
  return kept === whole ? whole : `${kept}…`;
}

/**
 * The lines of a text that aren't empty, in order: at most `most`, and one more where there are more. It makes no list
 * of all lines, because that would take ten times the memory of a large text.
 */
export function filledLines(text: string, most: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length <= most; ) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, end);
    if (line.trim() !== "") lines.push(line);
    at = end + 1;
  }
  return lines;
}

/** Replaces white space and control characters by one space each time, and trims. */
export function inOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** From the first character that is neither white space nor a control character to the end of its line. */
const FILLED_LINE = /[^\s\p{Cc}][^\n\v\f\r\u0085\u2028\u2029]*/u;
/** Characters of a line that are read for a title: its white space can be long. */
const READ_FOR_TITLE = 4;

/**
 * A title in the text: its first line that isn't empty, in one line, storable, at most `most` characters with the `…`
 * of a longer one. Empty if the text has no such line.
 */
export function titleLine(text: string, most = 200): string {
  const [line = ""] = FILLED_LINE.exec(text) ?? [];
  const read = cut(line, most * READ_FOR_TITLE);
  const shown = inOneLine(storableMessage(read));
  return fits(shown, most) ? shown : `${cut(shown, most - 1).trimEnd()}…`;
}
