import { html, type Markup } from "../../../ground/kit/html.ts";
import { brand, mark } from "../../../ground/page/drawings.ts";
import type { PageCall } from "../screen.ts";
import { chip, proofDot, proofWords, squareChip } from "../ui/faces.ts";
import { ICON_NAMES, icon } from "../ui/icon.ts";
import { levelBadge } from "../ui/level.ts";
import { barPlot, hourPlot, sparkline } from "../ui/plot.ts";
import { sampleFaces, sampleMinutes } from "./samples.ts";

const COLOURS =
  "paper card sunk ink soft line edge accent accent-w good good-w crit crit-w crit-f err err-w err-f warn warn-w warn-f".split(
    " ",
  );

/** What the box is known by, and its colours. */
export const brandAndColours = (): Markup =>
  html`<h2>Mark and colours</h2><p class="look-line"><span class="brand">${brand}</span>${mark}</p>
<ul class="look-line bare">${COLOURS.map(
    (name) =>
      html`<li><svg class="swatch" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="var(--${name})"/></svg> <span class="small">${name}</span></li>`,
  )}</ul>`;

export const typeSizes = (): Markup =>
  html`<h2>Type</h2><h2>Title of a part</h2><h3>Title of a card</h3><p>Body: the sender was last heard at 03:05. <a href="#type">A link</a>, <strong>what matters</strong>, <code>what is typed</code>, <kbd>a key</kbd>.</p><p class="soft">Second line.</p><p class="small soft">Small second line.</p>
<p class="message">message with <var>what varies</var> in it</p><p><span class="good">proved</span>, <span class="warn">not proved lately</span>, <span class="wrong">nothing reaches them</span></p>`;

export const levels = (): Markup =>
  html`<h2>Levels</h2><p class="look-line">${[500, 400, 300, 200, 100, 430].map((level) => levelBadge(level))}${levelBadge(500, 37)}</p>`;

/** Each hue at each size, each proof, and what is no person. */
export function people(call: PageCall): Markup {
  const faces = sampleFaces(call);
  return html`<h2>People</h2><ul class="look-line bare">${faces.map(
    (face) => html`<li class="who-line">${chip(face)}<span>${face.name}</span></li>`,
  )}</ul><p class="look-line">${faces.map((face) => chip(face, { size: "small", dot: false }))}</p><p class="look-line">${faces.map((face) => chip(face, { size: "large" }))}</p>
<p class="look-line">${faces.slice(0, 1).map((face) => html`${chip(face, { rings: true })} ringing now`)} ${squareChip("hash")} a channel ${squareChip("moon", null, "large")} off hours</p>
<ul class="look-line bare">${faces.slice(0, 4).map((face) => html`<li>${proofDot(face.proof)} ${proofWords(call, face)}</li>`)}</ul>`;
}

export const icons = (): Markup =>
  html`<h2>Icons</h2><ul class="look-line bare">${ICON_NAMES.map(
    (name) => html`<li>${icon(name)} <span class="small soft">${name}</span></li>`,
  )}</ul><p class="look-line">${icon("bell", "small")} small ${icon("bell")} usual ${icon("bell", "large")} large</p>`;

export function plots(): Markup {
  const bars = sampleMinutes.map((n, at) => ({ n, title: `minute ${at}: ${n}`, href: null }));
  const marks = [
    { glyph: "opened", slot: 50 },
    { glyph: "paged", slot: 52 },
    { glyph: "acked", slot: 55 },
    { glyph: "resolved", slot: 59 },
  ] as const;
  return html`<h2>Plots</h2><p class="look-line">${["critical", "error", "warn", "info"].map((kind) => html`<span class="of-${kind}">${sparkline(sampleMinutes)}</span>`)}${hourPlot(sampleMinutes)}</p><div class="of-critical">${barPlot(bars, marks, "An hour of events, with when it opened, paged, was taken and resolved")}</div>`;
}
