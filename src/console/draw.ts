import { html, type Markup } from "../kit/html.ts";
import type { Section, View } from "./screen.ts";

/**
 * A view's sections, each drawn, by id. `only`: those that were asked for; unknown ones are passed over. `once`: what is shown
 * this once: a section that shows it isn't live, since the next drawing, a moment later, wouldn't have it.
 */
export async function drawSections(
  { sections }: View,
  only: readonly string[] | null,
  once: readonly string[] = [],
): Promise<Map<string, Markup>> {
  const ids = Object.keys(sections).filter((id) => only === null || only.includes(id));
  const drawn = new Map<string, Markup>();
  for (const id of ids)
    drawn.set(
      id,
      wrapped(id, sections[id] as Section, (await sections[id]?.draw()) ?? html``, once),
    );
  return drawn;
}

function wrapped(
  id: string,
  { watches, turnsAt = null, attributes }: Section,
  drawn: Markup,
  once: readonly string[],
): Markup {
  const stays = once.some((text) => drawn.markup.includes(html`${text}`.markup));
  return html`<section id="${id}"${!stays && html` data-live="${watches.join(" ")}"`}${
    turnsAt !== null && html` data-turns="${turnsAt}"`
  }${attributes !== undefined && html` ${attributes}`}>
${drawn}
</section>
`;
}

/** The whole of a view. */
export function drawView(view: View, drawn: ReadonlyMap<string, Markup>): Markup {
  const put = (id: string): Markup => drawn.get(id) ?? html``;
  return view.body?.(put) ?? html`${[...drawn.values()]}`;
}
