import { html, type Markup } from "../../ground/kit/html.ts";
import { turns } from "../../ground/kit/turns.ts";
import type { Drawing, PageCall, Section, View } from "./screen.ts";

type Shown = PageCall["shown"];

/** Whether something of what is shown this once was looked at since the last drawing began. */
const looks = new WeakMap<Shown, { isLookedAt: boolean }>();

/** The same values, of which a drawing can tell which section looks at one. */
export function shownOnce(values: Shown): Shown {
  const look = { isLookedAt: false };
  const shown = new Proxy(values, {
    get(of, name: string) {
      const value = of[name];
      look.isLookedAt ||= value !== undefined;
      return value;
    },
  });
  looks.set(shown, look);
  return shown;
}

/**
 * A view's sections, each drawn, by id. `only`: those that were asked for; unknown ones are passed over. `shown`: the page's
 * own: a section that looks at something that is shown this once isn't live, since the next drawing, a moment later, wouldn't
 * have it. All others stay live: what else holds the same text, an id or a name, goes on changing.
 */
export async function drawSections(
  { sections }: View,
  only: readonly string[] | null,
  shown: Shown = {},
): Promise<Map<string, Markup>> {
  const ids = Object.keys(sections).filter((id) => only === null || only.includes(id));
  const drawn = new Map<string, Markup>();
  const look = looks.get(shown) ?? { isLookedAt: false };
  for (const id of ids) {
    look.isLookedAt = false;
    const given = sections[id] as Section | Drawing;
    const section = typeof given === "function" ? { draw: given } : given;
    const own = await turns.during(`section ${id}`, () => section.draw());
    drawn.set(id, wrapped(id, section, own, look.isLookedAt));
  }
  return drawn;
}

function wrapped(
  id: string,
  { watches = [], turnsAt = null, attributes }: Section,
  drawn: Markup,
  stays: boolean,
): Markup {
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
