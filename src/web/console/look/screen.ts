import { invalid, ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup, trusted } from "../../../ground/kit/html.ts";
import { brand, mark } from "../../../ground/page/drawings.ts";
import type { HeartbeatRun } from "../../../in/heartbeats/heartbeat.ts";
import { noFigures } from "../../../records/numbers/figures.ts";
import { barLine } from "../bar.ts";
import { flashLine, refusedLine } from "../flash.ts";
import type { PageCall, Screen } from "../screen.ts";
import { entryRow } from "../ui/entry-row.ts";
import { chip, proofDot, proofWords, squareChip } from "../ui/faces.ts";
import { findingRow } from "../ui/finding.ts";
import { button, field, select } from "../ui/form.ts";
import { ICON_NAMES, icon } from "../ui/icon.ts";
import { levelBadge } from "../ui/level.ts";
import { empty, tabs } from "../ui/pieces.ts";
import { barPlot, hourPlot, sparkline } from "../ui/plot.ts";
import { runLegend, runRow } from "../ui/runs.ts";
import { tiles } from "../ui/tiles.ts";
import { alertCards, ladder } from "./cards.ts";
import { onCall, silences, weekHeat } from "./plans.ts";
import { sampleFaces, sampleMinutes } from "./samples.ts";

const HOUR = 3600;

/** A run that ended in each way that there is, and one that goes on. */
function runs(call: PageCall): Markup {
  const usual = { exit_status: null, rid: null, late_seconds: 0 };
  const ends = ["ok", "ok", "ok", "failed", "missing", "overrun", "unknown", "ok"] as const;
  const all = ends.map((outcome, at): HeartbeatRun => {
    const ended = call.now - (ends.length - at) * HOUR;
    // The second was late.
    const late_seconds = at === 1 ? 40 : 0;
    return {
      ...usual,
      outcome,
      late_seconds,
      started_at: ended - 90,
      ended_at: ended,
      duration: 90,
    };
  });
  const started = { started_at: call.now - 60, ended_at: null, duration: null };
  const last: HeartbeatRun = { ...usual, ...started, outcome: "running" };
  return html`<h2>Runs of heartbeats</h2>${runRow(call, [last, ...all.toReversed()])}${runLegend}${runRow(call, [])}`;
}

/** A week's figures: better than before, and the first week of a box. */
function figures(): Markup {
  const [before, now] = [noFigures(), noFigures()];
  Object.assign(before.counts, { pages: 31 });
  Object.assign(now.counts, { pages: 12, night_rings: 3, nights_broken: 2, opened: 9 });
  Object.assign(now.counts, { ended_by_themselves: 4, reached_nobody: 1 });
  return html`<h2>Figures</h2>${tiles(now, before)}${tiles(noFigures(), noFigures())}`;
}

/** Entries of a report, of each type. */
function entries(call: PageCall): Markup {
  const path = "/p/payments/reports/sample";
  const at = { by: "Lucía Ferrer", path };
  const each = (["resolution", "analysis", "update"] as const).map((entryType, index) => ({
    id: `sample-${entryType}`,
    title: index === 2 ? "" : (["Payments work again", "A provider is slow"][index] ?? ""),
    entryType,
    contentMd: "**Card payments** took up to a minute. No order is lost.",
    createdAt: call.now - index * HOUR,
  }));
  return html`<h2>Entries of a report</h2><ol class="who">${each.map((entry) => entryRow(call, entry, at))}</ol>`;
}

const COLOURS =
  "paper card sunk ink soft line edge accent accent-w good good-w crit crit-w crit-f err err-w err-f warn warn-w warn-f".split(
    " ",
  );

/** What the box is known by, and its colours. */
const brandAndColours = (): Markup =>
  html`<h2>Mark and colours</h2><p class="look-line"><span class="brand">${brand}</span>${mark}</p>
<ul class="look-line bare">${COLOURS.map(
    (name) =>
      html`<li><svg class="swatch" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="var(--${name})"/></svg> <span class="small">${name}</span></li>`,
  )}</ul>`;

const typeSizes = (): Markup =>
  html`<h2>Type</h2><h2>Title of a part</h2><h3>Title of a card</h3><p>Body: the last event came at 03:05. <a href="#type">A link</a>, <strong>what matters</strong>, <code>what is typed</code>, <kbd>a key</kbd>.</p><p class="soft">Second line.</p><p class="small soft">Small second line.</p>
<p class="message">message with <var>what varies</var> in it</p><p><span class="good">proved</span>, <span class="warn">not proved lately</span>, <span class="wrong">nothing reaches them</span></p>`;

const levels = (): Markup =>
  html`<h2>Levels</h2><p class="look-line">${[500, 400, 300, 200, 100, 430].map((level) => levelBadge(level))}${levelBadge(500, 37)}</p>`;

/** Each hue at each size, each proof, and what is no person. */
function people(call: PageCall): Markup {
  const faces = sampleFaces(call);
  return html`<h2>People</h2><ul class="look-line bare">${faces.map(
    (face) => html`<li class="who-line">${chip(face)}<span>${face.name}</span></li>`,
  )}</ul><p class="look-line">${faces.map((face) => chip(face, { size: "small", dot: false }))}</p><p class="look-line">${faces.map((face) => chip(face, { size: "large" }))}</p>
<p class="look-line">${faces.slice(0, 1).map((face) => html`${chip(face, { rings: true })} ringing now`)} ${squareChip("hash")} a channel ${squareChip("moon", null, "large")} off hours</p>
<ul class="look-line bare">${faces.slice(0, 4).map((face) => html`<li>${proofDot(face.proof)} ${proofWords(call, face)}</li>`)}</ul>`;
}

const icons = (): Markup =>
  html`<h2>Icons</h2><ul class="look-line bare">${ICON_NAMES.map(
    (name) => html`<li>${icon(name)} <span class="small soft">${name}</span></li>`,
  )}</ul><p class="look-line">${icon("bell", "small")} small ${icon("bell")} usual ${icon("bell", "large")} large</p>`;

function plots(): Markup {
  const bars = sampleMinutes.map((n, at) => ({ n, title: `minute ${at}: ${n}`, href: null }));
  const marks = [
    { glyph: "opened", slot: 50 },
    { glyph: "paged", slot: 52 },
    { glyph: "acked", slot: 55 },
    { glyph: "resolved", slot: 59 },
  ] as const;
  return html`<h2>Plots</h2><p class="look-line">${["critical", "error", "warn", "info"].map((kind) => html`<span class="of-${kind}">${sparkline(sampleMinutes)}</span>`)}${hourPlot(sampleMinutes)}</p><div class="of-critical">${barPlot(bars, marks, "An hour of events, with when it opened, paged, was taken and resolved")}</div>`;
}

const NOWHERE = "/system/look";

function buttons(call: PageCall): Markup {
  const of = { action: NOWHERE };
  return html`<h2>Buttons</h2><div class="buttons">${button(call, { ...of, name: "Acknowledge" })}${button(call, { ...of, name: "Show", kind: "second" })}${button(call, { ...of, name: "Remove", kind: "danger" })}${button(call, { ...of, name: "Undo", kind: "plain" })}<button class="icon-button" type="button" aria-label="More">${icon("more")}</button></div>
<div class="buttons">${button(call, { ...of, name: "Escalate now", kind: "second", why: "Every rung of the ladder has run: assign somebody." })}</div>
<div class="buttons"><span class="taken taken-own">${icon("check", "small")}<span>Taken</span></span></div>`;
}

/** A form that came back: one field is wrong, another has to be typed again. */
function forms(call: PageCall): Markup {
  const form = new URLSearchParams({ address: "not an address", secret: "typed" });
  const error = invalid([{ field: "/address", reason: "must be an address" }]);
  const back = { returned: { action: NOWHERE, form, error } };
  const choices = ["Warning", "Error", "Critical"].map((name) => ({ value: name, name }));
  const usual = { name: "name", label: "Name", value: "nightly backup" };
  return html`<h2>Forms</h2><form class="form" method="get" action="${call.base}${NOWHERE}">${field(back, "", { ...usual, hint: "What people call it." })}${field(back, NOWHERE, { name: "address", label: "Address", autocomplete: "username" })}${field(back, NOWHERE, { name: "secret", label: "Password", type: "password", autocomplete: "new-password" })}${select(back, "", { name: "level", label: "From level", choices })}<label class="check"><input type="checkbox" name="critical" checked> Critical ones too</label><fieldset><legend>For how long</legend>${["1 hour", "2 hours", "1 day"].map((words, at) => html`<label class="check"><input type="radio" name="hours" value="${at}"${at === 0 && " checked"}> ${words}</label>`)}</fieldset><details id="look-more"><summary>More</summary><p class="soft">What few need.</p></details></form>`;
}

function notes(call: PageCall): Markup {
  const { base } = call;
  const tab = (name: string, count: number | null, here = false) => ({
    name,
    href: `${base}${NOWHERE}`,
    here,
    count,
  });
  const finding = (state: "failed" | "wrong" | "note" | "ok", words: string) =>
    findingRow({ id: `look-${state}`, check: "backups", state, words: html`${words}`, mend: null });
  return html`<h2>What is said</h2>${tabs("Sample", [tab("Lines", null, true), tab("Kinds", 29)])}
<p class="notice">A note: what happened, what stayed, what to do.</p><p class="notice notice-good"><span class="good">✓ app sent an event</span>, 03:05.</p><p class="notice notice-warn">Quiet until 18:00: disk swap.</p><p class="notice notice-wrong">Nothing reaches Lucía. She is the last rung. <a href="${base}${NOWHERE}">Mend it</a></p>
<ul class="who">${finding("failed", "The disk is full.")}${finding("wrong", "The last backup is 9 days old.")}${finding("note", "One source never sent an event.")}${finding("ok", "Made 2 h ago, and proved.")}</ul>
${barLine("alert", html`<strong>The box can’t page.</strong> The disk is full. <a href="${base}${NOWHERE}">Mend it</a>`, "look-alert")}${barLine("status", html`<strong>Pixel 8 isn’t rung any more</strong>: its push service says that it is gone.`, "look-status")}
<div class="look-toast">${flashLine({ said: "Acknowledged #130.", undo: { action: NOWHERE } }, base, "look-said")}</div><div class="look-toast">${refusedLine({ message: "Somebody else has it since 03:06." }, "look-refused")}</div>`;
}

const nothing = ({ base }: PageCall): Markup =>
  html`<h2>Nothing there</h2>${empty("Nothing is open.", html`<p class="soft">The last one was resolved 2 h ago.</p><p><a class="button second" href="${base}${NOWHERE}">Try tonight, 03:00</a></p>`)}`;

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

const none = () => html`<p>Owners see what the pages are made of.</p>`;

/** Every component of the console in every state, in light and dark, with people and alerts that there are not. For owners. */
export const lookScreen: Screen = {
  path: AT,
  view(call) {
    if (call.who.role !== "owner") return { title: "Look", nav: "system", sections: { none } };
    const theme = call.query.get("theme");
    const isGiven = THEMES.some((one) => one === theme);
    if (theme !== null && !isGiven) throw new ServiceError("not_found", "Pages are light or dark.");
    const sections = Object.fromEntries(
      Object.entries(PARTS).map(([name, draw]) => [
        name,
        async () => inPlace(await draw(call), call.base + AT),
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
