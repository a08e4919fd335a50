import { hash } from "node:crypto";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";

/** So many letters tell a row from what it was before. */
const PRINT = 6;
/** What a browser writes by itself, from second to second. */
const AGES = /(<time [^>]*data-(?:ago|until)[^>]*>)[^<]*/g;

/**
 * A row of a list that stays, with a print of how it is drawn. An open page says the prints of what it shows: of a row that it
 * has just so only the place is sent. Of fifty rows mostly one changes.
 */
export function stayingRow(
  { rows }: Pick<PageCall, "rows">,
  { id, look, isGone = false }: { id: string; look: string; isGone?: boolean },
  content: Markup,
): Markup {
  const gone = isGone && html` data-gone`;
  const drawn = content.markup.replace(AGES, "$1");
  const print = hash("sha1", `${look} ${isGone} ${drawn}`, "base64url").slice(0, PRINT);
  if (rows.get(id) === print) return html`<li id="${id}" data-row="${print}"${gone}></li>`;
  return html`<li class="row ${look}" id="${id}" data-row="${print}"${gone}>
${content}
</li>
`;
}
