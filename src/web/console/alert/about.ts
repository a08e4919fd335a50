import { factsOf } from "../../../core/alerts/alert.ts";
import { labelTexts } from "../../../core/alerts/labels.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { markedTemplate } from "../ui/message.ts";
import { counted } from "../ui/pieces.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Of more labels than these the rest is a click away. */
const LABELS_SHOWN = 12;

/** Its labels, each with all of its values; an alert from before labels were kept has identifiers alone. */
export function labelsShown(row: ShownAlert["row"]): [string, string][] {
  const { labels, ...alert } = factsOf(row);
  return labelTexts({ ...alert, labels: { ...alert.identifiers, ...labels } });
}

/** What its sender said of it, and the kind of line that it is. */
export function aboutSection({ row }: ShownAlert): Markup {
  const { details, links, images } = factsOf(row);
  const fact = ([name, value]: readonly [string, Piece]) =>
    html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`;
  const all = labelsShown(row);
  const more = all.slice(LABELS_SHOWN);
  const addresses = [
    ...links,
    ...images.map(({ src, alt = "" }) => ({ href: src, text: alt || "Image" })),
  ];
  return html`<h2>What it says</h2>
<p class="message mono" dir="auto">${row.last_message}</p>${details !== null && html`<p class="message" dir="auto">${details}</p>`}
<dl class="facts" id="labels">${all.slice(0, LABELS_SHOWN).map(fact)}${fact([
    "Kind",
    html`<span class="message">${markedTemplate(row.template)}</span>`,
  ])}</dl>${
    more.length > 0 &&
    html`<details id="more-labels"><summary>${counted(more.length, "more label")}</summary><dl class="facts">${more.map(fact)}</dl></details>`
  }${
    addresses.length > 0 &&
    html`<ul id="links">${addresses.map(({ href, text }) => html`<li><a href="${href}" rel="noopener noreferrer nofollow">${text}</a></li>`)}</ul>`
  }`;
}
