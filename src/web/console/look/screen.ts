import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup, trusted } from "../../../ground/kit/html.ts";
import type { PageCall, Screen, Section } from "../screen.ts";
import { tabs } from "../ui/pieces.ts";
import { alertCards, ladder } from "./cards.ts";
import { buttons, forms, notes, nothing } from "./controls.ts";
import { brandAndColours, icons, levels, people, plots, typeSizes } from "./marks.ts";
import { onCall, silences, weekHeat } from "./plans.ts";
import { entries, figures, runs } from "./records.ts";

const AT = "/system/look";
const THEMES = ["light", "dark"] as const;

/** In their order; each is drawn by what the pages themselves draw it with. */
const PARTS: Readonly<Record<string, (call: PageCall) => Markup | Promise<Markup>>> = {
  colours: brandAndColours,
  type: typeSizes,
  levels,
  people,
  alerts: alertCards,
  ladder,
  oncall: onCall,
  silences,
  buttons,
  forms,
  notes,
  nothing,
  runs,
  figures,
  entries,
  plots,
  heat: weekHeat,
  icons,
};

const none: Section = {
  watches: [],
  draw: () => html`<p>Owners see what the pages are made of.</p>`,
};

/** Every component of the console in every state, in light and dark, with people and alerts that there are not. For owners. */
export const lookScreen: Screen = {
  path: AT,
  view(call) {
    if (call.who.role !== "owner") return { title: "Look", nav: "system", sections: { none } };
    const theme = call.query.get("theme");
    const isGiven = THEMES.some((one) => one === theme);
    if (theme !== null && !isGiven) throw new ServiceError("not_found", "Pages are light or dark.");
    const sections = Object.fromEntries(
      Object.entries(PARTS).map(([name, draw]): [string, Section] => [
        name,
        { watches: [], draw: async () => inPlace(await draw(call), call.base + AT) },
      ]),
    );
    return {
      title: "Look",
      nav: "system",
      sections,
      body: (put) =>
        html`${choice(call, theme)}<p class="soft">What the pages are made of, with people and alerts that there are not. Nothing here does anything.</p>
<div class="look"${isGiven && html` data-theme="${theme}"`}>${Object.keys(sections).map(put)}</div>`,
    };
  },
};

/** What would lead to something of the samples leads here: there is no such person, alert or silence. */
const inPlace = ({ markup }: Markup, at: string): Markup =>
  trusted(
    markup
      .replaceAll(/href="[^"]*"/g, `href="${at}"`)
      .replaceAll(/method="post" action="[^"]*"/g, `method="get" action="${at}"`),
  );

const choice = ({ base }: PageCall, theme: string | null): Markup =>
  tabs("Colours", [
    { name: "As you have it", href: `${base}${AT}`, here: theme === null },
    ...THEMES.map((name) => ({
      name: name === "light" ? "Light" : "Dark",
      href: `${base}${AT}?theme=${name}`,
      here: theme === name,
    })),
  ]);
