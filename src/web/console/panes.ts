import { ServiceError } from "../../ground/kit/errors.ts";
import { html, type Markup } from "../../ground/kit/html.ts";
import { turns } from "../../ground/kit/turns.ts";
import { drawView } from "./draw.ts";
import type { Routing } from "./routing.ts";
import type { Elsewhere, PageCall, Screen, View } from "./screen.ts";

/**
 * What a screen shows: in a wide window with the one that stands beside it, a list on the left and what is chosen in it on the
 * right. Ids of sections differ between the two.
 */
export async function viewOf(
  routing: Routing,
  screen: Screen,
  call: PageCall,
): Promise<View | Elsewhere> {
  const view = await turns.during(`page ${screen.path}`, () => screen.view(call));
  if ("elsewhere" in view || view.beside === undefined) return view;
  const { at, as, both } = view.beside;
  const other = await viewAt(routing, call, at);
  if (other === null) return view;
  const [list, chosen] = as === "list" ? [other, view] : [view, other];
  const { script, headers } = view;
  return {
    title: view.title,
    heading: null,
    nav: view.nav,
    at: both,
    ...(script !== undefined && { script }),
    ...(headers !== undefined && { headers }),
    sections: {
      "list-head": { attributes: html`class="top"`, draw: () => headOf(list) },
      ...list.sections,
      ...chosen.sections,
    },
    body: (put) =>
      html`<div class="panes"><div class="pane pane-list">${put("list-head")}${half(list, put)}</div>
<div class="pane">${half(chosen, put)}</div></div>`,
  };
}

const half = (view: View, put: (id: string) => Markup): Markup =>
  drawView(view, new Map(Object.keys(view.sections).map((id) => [id, put(id)])));

/** A page has one heading, and that is what is chosen. */
const headOf = async ({ heading, title, tools }: View): Promise<Markup> =>
  html`<h2>${heading ?? title}</h2>${await tools?.()}`;

/** null: there is nothing there any more. */
async function viewAt(routing: Routing, call: PageCall, at: string): Promise<View | null> {
  const { pathname, searchParams } = new URL(at, "http://box");
  const found = routing.screen(pathname);
  if (found === null) return null;
  try {
    const asked = { ...call, params: found.params, query: searchParams };
    const view = await turns.during(`page ${found.screen.path}`, () => found.screen.view(asked));
    return "elsewhere" in view ? null : view;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
