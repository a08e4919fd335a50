import { html, type Markup } from "../kit/html.ts";
import type { Section, View } from "./screen.ts";

/** A view's sections, each drawn, by id. `only`: those that were asked for; unknown ones are passed over. */
export async function drawSections(
  { sections }: View,
  only: readonly string[] | null,
): Promise<Map<string, Markup>> {
  const ids = Object.keys(sections).filter((id) => only === null || only.includes(id));
  const drawn = new Map<string, Markup>();
  for (const id of ids)
    drawn.set(id, wrapped(id, sections[id] as Section, await sections[id]?.draw()));
  return drawn;
}

function wrapped(id: string, { watches, attributes }: Section, markup: Markup | undefined): Markup {
  return html`<section id="${id}" data-live="${watches.join(" ")}"${
    attributes !== undefined && html` ${attributes}`
  }>
${markup}
</section>
`;
}

/** The whole of a view. */
export function drawView(view: View, drawn: ReadonlyMap<string, Markup>): Markup {
  const put = (id: string): Markup => drawn.get(id) ?? html``;
  return view.body?.(put) ?? html`${[...drawn.values()]}`;
}
