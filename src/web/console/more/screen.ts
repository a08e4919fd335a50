import { html } from "../../../ground/kit/html.ts";
import type { Screen, View } from "../screen.ts";
import { BEHIND_MORE } from "../shell.ts";
import { icon } from "../ui/icon.ts";

/** What a phone has no room for at its bottom. */
export const moreScreen: Screen = {
  path: "/more",
  view: ({ base, leads }): View => ({
    title: "More",
    nav: "more",
    sections: {
      all: () =>
        html`<ul class="list">${BEHIND_MORE.filter(({ path }) => leads(path)).map(
          ({ name, path, icon: drawing }) =>
            html`<li><a href="${base}${path}">${icon(drawing)}<span>${name}</span>${icon("next", "small")}</a></li>`,
        )}</ul>`,
    },
  }),
};
