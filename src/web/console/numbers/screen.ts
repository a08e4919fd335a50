import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { mustBeOwner } from "../../../people/roles.ts";
import { numbersCsv } from "../../../records/numbers/csv.ts";
import { daysBefore, lookTotal, numbersOf } from "../../../records/numbers/numbers.ts";
import { changeSettings, readSettings, settingsChange } from "../../../records/numbers/settings.ts";
import {
  type NumbersAnswer,
  type NumbersBy,
  type NumbersRow,
  numbersBy,
} from "../../../records/numbers/shape.ts";
import type { Form, PageCall, PageFile, Screen } from "../screen.ts";
import { field, tick } from "../ui/form.ts";
import { heat } from "../ui/heat.ts";
import { counted, empty } from "../ui/pieces.ts";
import { barPlot } from "../ui/plot.ts";
import { asked } from "../ui/schedule.ts";
import { tiles, took } from "../ui/tiles.ts";
import { adviceSection, hideForm } from "./advice.ts";
import { digestForm, digestSection, digestSendForm } from "./digest.ts";

const AT = "/numbers/settings";

/** Who may see whose figures, and by which clock days are counted: an owner's to say. */
function settingsSection(call: PageCall): Markup {
  const { numbers_open, numbers_timezone } = readSettings(call.tenant.store);
  if (call.who.role !== "owner") return html``;
  return html`<details id="numbers-settings"><summary>Settings</summary><form class="form" method="post" action="${call.base}${AT}">
${tick(call, AT, { name: "numbers_open", value: "true", usual: numbers_open, words: "Everybody sees the figures of everybody" })}
${field(call, AT, { name: "numbers_timezone", label: "Days are counted in", value: numbers_timezone, required: true, hint: "Like Europe/Vienna. A change counts from now on. Messages to channels use it for times, too." })}
<p class="form-foot"><button class="button second">Save the settings</button></p></form></details>`;
}

const settingsForm: Form = {
  verb: "changeSettings",
  act({ tenant, who }, form) {
    mustBeOwner(who.role);
    const change = check(
      settingsChange,
      {
        numbers_open: form.has("numbers_open"),
        numbers_timezone: (form.get("numbers_timezone") ?? "").trim(),
      },
      "body",
    );
    tenant.store.write((tx) => changeSettings(tx, change));
    return { said: "The settings are saved." };
  },
};

/** Who pays for the noise: pages a person, at night, time to take it, the noisiest rules, when it rang. */

const SPANS = [1, 4, 8, 26, 104];
const USUAL = 4;
const WEEK = 7 * 86_400;

const weeksOf = ({ query }: PageCall): number => {
  const weeks = Number(query.get("weeks") ?? USUAL);
  return SPANS.includes(weeks) ? weeks : USUAL;
};

/** Days that end today; with `before` as many that ended where these begin. */
function rangeOf(call: PageCall, before = 0) {
  const weeks = weeksOf(call);
  const to = call.now + 1 - before * weeks * WEEK;
  return { from: daysBefore(call.tenant.store, to, weeks * 7 - 1), to, project: null };
}

const ask = (call: PageCall, by: NumbersBy): Promise<NumbersAnswer> =>
  numbersOf(asked(call), { by, ...rangeOf(call) }, { now: call.now, viewer: call.who.accountId });

export const numbersScreen: Screen = {
  path: "/numbers",
  files: { csv: table },
  forms: { hide: hideForm, settings: settingsForm, digest: digestForm, send: digestSendForm },
  async view(call) {
    const { store } = call.tenant;
    const now = lookTotal(store, call.now, rangeOf(call));
    const before = lookTotal(store, call.now, rangeOf(call, 1));
    const [people, rules, weeks] = await Promise.all([
      ask(call, "person"),
      ask(call, "rule"),
      ask(call, "week"),
    ]);
    return {
      title: "Numbers",
      nav: "numbers",
      sections: {
        head: () => head(call, people),
        totals: () => tiles(now, before),
        advice: () => adviceSection(call),
        people: () => peopleTable(call, people),
        hours: () => heat(now.spans.rang),
        rules: () => rulesTable(call, rules),
        weeks: () => weeksTable(weeks),
        digest: () => digestSection(call),
        settings: () => settingsSection(call),
      },
    };
  },
};

function head(call: PageCall, { complete, timezone }: NumbersAnswer): Markup {
  const weeks = weeksOf(call);
  const spans = SPANS.map(
    (n) =>
      html`<a href="${call.base}/numbers?weeks=${n}"${n === weeks && html` aria-current="page"`}>${n === 1 ? "1 week" : n === 104 ? "2 years" : `${n} weeks`}</a>`,
  );
  const files = (["person", "rule", "day"] as const).map(
    (by) => html`<a href="${call.base}/numbers/csv?weeks=${weeks}&amp;by=${by}">by ${by}</a> `,
  );
  return html`<nav class="tabs" aria-label="Time">${spans}</nav>
${!complete && empty("The box still reads older history. Look again in a minute.")}
<p class="soft small">Days are counted in ${timezone}. Drills don't count. As a table (CSV): ${files}</p>`;
}

/** The figures that the page draws, and all others, for a spreadsheet. */
async function table(call: PageCall): Promise<PageFile> {
  const by = numbersBy.find((one) => one === call.query.get("by")) ?? "week";
  const body = numbersCsv(await ask(call, by));
  return { name: `numbers-by-${by}.csv`, type: "text/csv; charset=utf-8", body };
}

/** Each chart is a table as well, or stands in one. */

/** Two parts of a bar that is as wide as its share of the most: by day, and at night. */
function meter(day: number, night: number, most: number): Piece {
  if (day + night === 0) return null;
  const at = (n: number) => Math.round((n / Math.max(1, most)) * 1400) / 10;
  return html`<svg class="plot meter" width="140" height="8" viewBox="0 0 140 8" aria-hidden="true"><rect class="plot-rest" width="140" height="8"/><rect class="plot-now" width="${at(day)}" height="8"/><rect class="plot-night" x="${at(day)}" width="${at(night)}" height="8"/></svg>`;
}

function peopleTable({ base }: PageCall, { rows }: NumbersAnswer): Markup {
  const seen = rows.filter(({ pages, on_call_hours: hours }) => pages > 0 || (hours ?? 0) > 0);
  if (seen.length === 0)
    return html`<h2>Pages a person</h2>${empty("Nobody was paged or on call.")}`;
  const most = Math.max(...seen.map(({ rings }) => rings));
  return html`<h2>Pages a person</h2><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Person</th><th scope="col" class="num">Pages</th><th scope="col" class="num">That rang</th><th scope="col" class="num">At night</th><th scope="col" class="num">Interrupted</th><th scope="col" class="num">Nights broken</th><th scope="col" class="num">On call</th></tr></thead><tbody>${seen.map(
    (row) =>
      html`<tr><th scope="row"><a href="${base}/people/${row.key}">${row.name}</a></th><td data-label="pages" class="num">${row.pages}</td><td data-label="that rang" class="num">${meter(row.rings - row.night_rings, row.night_rings, most)} ${row.rings}</td><td data-label="at night" class="num">${row.night_rings}</td><td data-label="interrupted" class="num">${row.interruptions}</td><td data-label="nights broken" class="num">${row.nights_broken}</td><td data-label="on call" class="num">${Math.round(row.on_call_hours ?? 0)} h</td></tr>
`,
  )}</tbody></table></div><p class="soft small">A page is one telling of one alert. It rang where it made a noise: mail and what a program takes make none. Nobody is ranked: people see their own figures, owners and admins all, others as the owner decides.</p>`;
}

const NOISIEST = 10;
/** With fewer alerts a share says nothing. */
const ENOUGH = 5;

function rulesTable({ base }: PageCall, { rows }: NumbersAnswer): Markup {
  const worst = rows.filter(({ opened }) => opened > 0).slice(0, NOISIEST);
  if (worst.length === 0) return html`<h2>Noisiest rules</h2>${empty("No alert opened.")}`;
  return html`<h2>Noisiest rules</h2><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Rule</th><th scope="col" class="num">Alerts</th><th scope="col" class="num">Acknowledged</th><th scope="col" class="num">Ended by themselves</th><th scope="col"><span class="hidden-text">What to do</span></th></tr></thead><tbody>${worst.map(
    (row) =>
      html`<tr><th scope="row">${ruleName(base, row)}</th><td data-label="alerts" class="num">${row.opened}</td><td data-label="acknowledged" class="num">${row.acknowledged}</td><td data-label="ended by themselves" class="num">${row.ended_by_themselves}</td><td>${isNoise(row) && rulePath(row) !== null && html`<a href="${base}${rulePath(row)}">Calm it</a>`}</td></tr>
`,
  )}</tbody></table></div>`;
}

/** Of five and more, less than one in five was anybody's business. */
const isNoise = ({ opened, acknowledged }: NumbersRow): boolean =>
  opened >= ENOUGH && acknowledged * 5 < opened;

/** null: it was deleted. */
function rulePath({ key }: NumbersRow): string | null {
  const at = key.indexOf("/");
  if (at <= 0) return null;
  return `/p/${encodeURIComponent(key.slice(0, at))}/rules/${encodeURIComponent(key.slice(at + 1))}`;
}

function ruleName(base: string, row: NumbersRow): Markup {
  const path = rulePath(row);
  const project = row.key.slice(0, Math.max(0, row.key.indexOf("/")));
  return path === null
    ? html`${row.name}`
    : html`<a href="${base}${path}">${row.name}</a> <span class="soft">${project}</span>`;
}

/** Interruptions by week, and what the bars are as numbers. */
function weeksTable({ rows }: NumbersAnswer): Markup {
  const bars = rows.map(({ name, interruptions, opened }) => ({
    n: interruptions,
    title: `Week of ${name}: ${counted(interruptions, "interruption")}, ${counted(opened, "alert")}`,
    href: null,
  }));
  return html`<h2>Week by week</h2>${rows.some(({ interruptions }) => interruptions > 0) ? barPlot(bars, [], "Interruptions by week; the table below has the numbers") : html`<p>Nobody was interrupted.</p>`}
<details id="weeks-table"><summary>As numbers</summary><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Week of</th><th scope="col" class="num">Alerts</th><th scope="col" class="num">Pages</th><th scope="col" class="num">Interruptions</th><th scope="col" class="num">At night</th><th scope="col" class="num">Half taken within</th></tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.name}</th><td data-label="alerts" class="num">${row.opened}</td><td data-label="pages" class="num">${row.pages}</td><td data-label="interruptions" class="num">${row.interruptions}</td><td data-label="at night" class="num">${row.night_interruptions}</td><td data-label="half within">${row.opened_to_acknowledged_p50 === null ? "–" : took(row.opened_to_acknowledged_p50)}</td></tr>
`,
  )}</tbody></table></div></details>`;
}
