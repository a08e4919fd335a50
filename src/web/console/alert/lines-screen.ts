import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen, View } from "../screen.ts";
import { levelWord } from "../ui/level.ts";
import { markedTitle } from "../ui/message.ts";
import { timeOnClock } from "../ui/times.ts";
import {
  type AskedLines,
  askedLines,
  LINE_LEVELS,
  lineList,
  noLines,
  readLines,
  variables,
} from "./lines.ts";
import { readShownAlert, type ShownAlert } from "./shown-alert.ts";

const MOST = 500;

/** All kept lines around an alert, by source, template and words. */
export const linesScreen: Screen = {
  path: "/a/{alert}/lines",
  view(call): View {
    const shown = readShownAlert(call);
    const asked = askedLines(call.query);
    return {
      title: `Lines around #${shown.row.id}`,
      heading: html`Lines around <a href="${call.base}/a/${shown.row.id}" data-key="Escape" title="Back to the alert (Esc)">#${shown.row.id}</a>`,
      nav: "alerts",
      sections: {
        filter: () => filter(call, shown, asked),
        lines: { watches: [`alert:${shown.row.id}`], draw: () => lines(call, shown, asked) },
      },
    };
  },
};

function filter(
  call: PageCall,
  { row }: ShownAlert,
  { source, template, q, level, at }: AskedLines,
): Markup {
  const to = `${call.base}/a/${row.id}/lines`;
  const hidden = (name: string, value: string) =>
    value !== "" && html`<input type="hidden" name="${name}" value="${value}">`;
  return html`<p class="message" dir="auto">${markedTitle(row)}</p>
<form class="filters" method="get" action="${to}" role="search"><input type="search" name="q" id="q" value="${q}" maxlength="200" aria-label="Words in the lines" data-key="/" aria-keyshortcuts="/" title="Search (/)"><select name="level" id="level" aria-label="Level"><option value="">Any level</option>${LINE_LEVELS.map(
    (from) =>
      html`<option value="${from}"${from === level && html` selected`}>${levelWord(from)} and above</option>`,
  )}</select>${hidden("template", template)}${hidden("source", source)}${hidden("at", at === null ? "" : String(at))}<button class="button second">Search</button><a href="${to}?template=${row.template_id}">Only lines like it</a>${
    (q !== "" || level > 0 || template !== "" || source !== "" || at !== null) &&
    html` <a href="${to}">Clear</a>`
  }</form>`;
}

function lines(call: PageCall, shown: ShownAlert, asked: AskedLines): Markup {
  const found = readLines(call, shown, { asked, limit: MOST });
  const { opened_at } = shown.row;
  const from = asked.at ?? opened_at - 300;
  const until = asked.at === null ? opened_at + 300 : asked.at + 60;
  const sources = [...new Set(found.messages.map(({ source }) => source))];
  const own = (source: string) =>
    `${call.base}/a/${shown.row.id}/lines?${new URLSearchParams({ source }).toString()}`;
  return html`<p class="soft">${timeOnClock(call, from)} – ${timeOnClock(call, until)}${!found.complete && ": the nearest to its opening; there are more"}${
    sources.length > 1 &&
    html`. From ${sources.map((source, i) => html`${i > 0 && ", "}<a href="${own(source)}">${source}</a>`)}`
  }</p>
${found.messages.length === 0 ? noLines(call, shown) : html`${variables(call, shown, found)}<p><button class="button second" type="button" data-copy="as-text">Copy as text</button></p><textarea id="as-text" class="hidden-text" readonly tabindex="-1" aria-label="All lines as text">${found.messages.map(({ message }) => `${message}\n`)}</textarea>${lineList(call, shown, found)}`}`;
}
