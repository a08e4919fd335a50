/**
 * Building pages from text without a template language: every value put into an `html` template is
 * escaped unless it was itself made by `html` or vouched for with `trusted`.
 */

/** Markup that is safe to put into a page as it is. Made only in this file. */
export interface Markup {
  readonly markup: string;
}

/** What may stand in a template: text is escaped, nothing is left out, lists are joined. */
export type Piece = Markup | string | number | null | undefined | false | readonly Piece[];

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text with the five characters that mean something in HTML and XML written as entities. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Vouches for markup made elsewhere: sanitized content, the style sheet. */
export function trusted(markup: string): Markup {
  return { markup };
}

/** Template tag: literal parts stand as written, values are escaped. Quote every attribute. */
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
