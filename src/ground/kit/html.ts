/** Pages as template literals: each value in an `html` template is escaped, unless `html` or `trusted` made it. */

/** Markup that needs no escaping. Only this file makes it. */
export interface Markup {
  readonly markup: string;
}

/** A value in a template. Text is escaped, lists are joined; null, undefined and false become nothing. */
export type Piece = Markup | string | number | null | undefined | false | readonly Piece[];

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes the five special characters of HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Marks text as safe markup: sanitized content, the style sheet. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Template tag: the literal parts stay as written, values are escaped. Put quotes around every attribute. */
export function html(literals: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let markup = literals[0] ?? "";
  for (let i = 0; i < values.length; i++) markup += written(values[i]) + (literals[i + 1] ?? "");
  return { markup };
}

function written(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return "";
  if (typeof piece === "string") return escapeMarkup(piece);
  if (typeof piece === "number") return String(piece);
  return "markup" in piece ? piece.markup : piece.map(written).join("");
}
