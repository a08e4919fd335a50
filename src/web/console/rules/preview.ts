import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { DryRun } from "../../../in/ingest/dry-run/dry-run.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { levelBadge } from "../ui/level.ts";
import { identifiersText, markedTemplate } from "../ui/message.ts";
import { peopleNames } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { clockTime, span } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import { dryPlot, weeksPlot } from "./dry-plot.ts";
import { ladderTriedWords } from "./try-ladder.ts";

/** What the rule in the form would have done: drawn anew while it changes, by the box alone. */
export function previewSection(
  call: PageCall,
  { action, project }: { action: string; project: string },
): Markup {
  const { returned, shown } = call;
  if (returned?.action === `${action}/try`)
    return html`<h2>Not tried</h2><div class="notice notice-warn"><p>${returned.error.message}</p>${returned.error.details.map(
      ({ field = "", reason }) => html`<p class="small">${field} ${reason}</p>`,
    )}</div>`;
  if (shown["tried"] === undefined)
    return html`<h2>What it would have done</h2><p class="soft">Press <em>Try it</em>, or change something: the rule is tried on the lines that are kept. Nothing is saved by that, and nobody is rung.</p>`;
  return tried(call, JSON.parse(shown["tried"]) as DryRun, project);
}

function tried(call: PageCall, run: DryRun, project: string): Markup {
  return html`<h2 class="rule-verdict">${verdict(run)}</h2>
<p class="soft small">${coverage(run)} A trial: nothing was saved, and nobody rung.</p>
${run.warnings.map(({ detail }) => html`<p class="notice notice-warn">${detail}</p>`)}
${ladderTriedWords(call)}
${dryPlot(call, run)}
${fourWeeks(call, run)}
${against(call, run)}
${alertList(call, run)}
${near(call, run)}
${templates(run)}
${assumptions(call, run, project)}`;
}

/** "It would have opened 6 alerts in 7 days and paged 9 times, 2 of them at night." */
function verdict({ alert_count, page_count, night_page_count, range }: DryRun): string {
  const days = span(Math.max(1, range.until - range.from));
  if (alert_count === 0) return `It would have opened no alert in ${days}.`;
  const night =
    night_page_count === 0 ? "none of them at night" : `${night_page_count} of them at night`;
  const pages =
    page_count === 0 ? "nobody would have been paged" : `${counted(page_count, "page")}, ${night}`;
  return `It would have opened ${counted(alert_count, "alert")} in ${days}: ${pages}.`;
}

const CUT = {
  time: "Looking through all took too long",
  retention: "Older lines are no longer kept",
  memory: "More would not have fitted into memory",
} as const;

function coverage({ range, scanned, matched }: DryRun): string {
  const looked = `${counted(scanned.lines, "line").replace(/\B(?=(\d{3})+ )/g, ",")} looked at in ${scanned.ms} ms, ${counted(matched, "match", "matches")}.`;
  const cut =
    range.why === null ? "" : ` ${CUT[range.why]}: it is ${span(range.until - range.from)}.`;
  return looked + cut;
}

/** Of a rule that asks for what is new, unusual or missing: by counts, which are kept longer than lines. */
function fourWeeks(call: PageCall, { weeks }: DryRun): Piece {
  if (weeks === null) return false;
  const { from, compares_from: told, complete, fired_count: count, fired } = weeks;
  const unknown =
    told === null
      ? "Nothing that this rule looks at is counted yet."
      : told > from &&
        html`Before ${clockTime(call, told)} it isn't known: too little was counted, or it is no longer kept.`;
  return html`<h3>The last four weeks</h3>
<p>By what is counted by the hour it would ${count === 0 ? "never have fired" : `have fired ${count === 1 ? "once" : `${count} times`}`}. ${unknown !== false && html`<span class="soft">${unknown}</span>`}</p>
${!complete && html`<p class="notice notice-warn">There is so much that not all of it was looked at.</p>`}
${weeksPlot(call, weeks)}
${
  fired.length > 0 &&
  html`<details id="weeks-fired"${fired.length <= 10 && html` open`}><summary>Where it would have fired</summary><ul class="rule-alerts">${fired
    .toReversed()
    .slice(0, MOST_SHOWN)
    .map(({ at, template, identifiers, came, usually }) => {
      const about = identifiersText(identifiers);
      return html`<li><span class="soft">${clockTime(call, at)}</span> <span class="message">${markedTemplate(template)}</span>${about !== "" && html` <span class="soft">${about}</span>`}${came !== null && html` <span class="soft">${came}, usually ${usually ?? 0}</span>`}</li>`;
    })}</ul>${count > MOST_SHOWN && html`<p class="soft">The latest ${Math.min(MOST_SHOWN, fired.length)} of ${count}.</p>`}</details>`
}`;
}

/** What the saved rule did in the same time, by its real alerts. */
function against(call: PageCall, { versus, alert_count }: DryRun): Piece {
  if (versus === null) return false;
  const { alerts, only_new: fresh, only_old: lost } = versus;
  const change = alert_count - alerts;
  return html`<h3>Against the saved rule</h3>
<p>It opened ${counted(alerts, "alert")} in this time${change !== 0 && `: this would be ${Math.abs(change)} ${change < 0 ? "fewer" : "more"}`}.</p>
${
  fresh.length > 0 &&
  html`<details id="only-new" open><summary>${fresh.length} it would newly catch</summary><ul>${fresh.slice(0, 50).map((at) => html`<li>${clockTime(call, at)}</li>`)}</ul></details>`
}${
  lost.length > 0 &&
  html`<details id="only-old" open><summary>${lost.length} it would no longer catch</summary><ul>${lost.slice(0, 50).map((id) => html`<li><a href="${call.base}${pathOf("a", id)}">#${id}</a></li>`)}</ul></details>`
}`;
}

const MOST_SHOWN = 50;

function alertList(call: PageCall, { alerts, alert_count }: DryRun): Piece {
  if (alerts.length === 0) return false;
  const nameOf = peopleNames(call.tenant.store);
  return html`<h3>Alerts</h3><ol class="rule-alerts">${alerts.slice(0, MOST_SHOWN).map((alert) => {
    const { opened_at, ended_at, template, identifiers, count, level, paged } = alert;
    const lasted = ended_at === null ? "still open" : span(ended_at - opened_at);
    const about = identifiersText(identifiers);
    return html`<li>${levelBadge(level)} <span class="soft">${clockTime(call, opened_at)}</span> <span class="message">${markedTemplate(template)}</span>${about !== "" && html` <span class="soft">${about}</span>`} <span class="soft">${count} ×, ${lasted} · ${paged.length === 0 ? "pages nobody" : `would page ${paged.map(nameOf).join(", ")}`}</span></li>`;
  })}</ol>${alert_count > MOST_SHOWN && html`<p class="soft">The first ${MOST_SHOWN} of ${alert_count}.</p>`}`;
}

function near(call: PageCall, { near: missed }: DryRun): Piece {
  if (missed.length === 0) return false;
  return html`<h3>Just missed</h3><ul>${missed.map(
    ({ template, identifiers, best, needed, at }) => {
      const about = identifiersText(identifiers);
      return html`<li><span class="soft">${clockTime(call, at)}</span> ${best} of ${needed}: <span class="message">${markedTemplate(template)}</span>${about !== "" && html` <span class="soft">${about}</span>`}</li>`;
    },
  )}</ul>`;
}

function templates({ templates: all }: DryRun): Piece {
  if (all.length === 0) return false;
  return html`<details id="tried-templates"><summary>${counted(all.length, "kind")} of message</summary><ul>${all.map(
    ({ template, matched, alerts, grew, example }) =>
      html`<li><span class="message">${markedTemplate(template)}</span> <span class="soft">${counted(matched, "match", "matches")}, ${counted(alerts, "alert")}${grew && " · more general than it was when the lines came"}</span><br><code class="small">${example.slice(0, 300)}</code></li>`,
  )}</ul></details>`;
}

/** What the result rests on. */
function assumptions(
  call: PageCall,
  { scanned, assume_resolved_after }: DryRun,
  project: string,
): Markup {
  const { sources_without_logs: without } = scanned;
  return html`<h3>What this trial assumes</h3><ul class="soft">
<li>Somebody ends an alert after ${span(assume_resolved_after)}, where the rule doesn't; nobody acknowledges one.</li>
<li>Templates are as they are today; schedules and overrides as they stand for that time.</li>
${without.map((name) => {
  const change = remedy(call, pathOf("p", project, "sources", name), "keep them");
  return html`<li>Not in this trial: ${name} keeps no lines${change !== null && html` (${change})`}.</li>`;
})}</ul>`;
}
