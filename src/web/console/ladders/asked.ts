import { followed } from "../../../core/oncall/holder.ts";
import { followPreview } from "../../../core/oncall/rotation.ts";
import { findForLadder } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { type Choice, optionsOf } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { levelChoices } from "../ui/level.ts";
import { nextHour } from "../ui/local-time.ts";
import { clockIn } from "./clock-in.ts";
import { askLink, atText, LADDER_FORM, type LadderQuestion } from "./question.ts";

const LEVELS = levelChoices("as the rule has it");

const HOUR = 3600;

/** Which rule of those that may be tried, by how the address says it, in words. */
export type RuleChoices = readonly Choice[];

/** When it opens, as which rule's, at which level. Of a draft the fields go with its form, and nothing typed is lost. */
export function askedForm(call: PageCall, question: LadderQuestion, rules: RuleChoices): Markup {
  const { zone, at, level, silent, as, path, isDraft, isSwept } = question;
  const { base, now } = call;
  const own = isDraft && html` form="${LADDER_FORM}"`;
  const chosen = level === null ? "" : String(level);
  const levels = LEVELS.some(({ value }) => value === chosen)
    ? LEVELS
    : [...LEVELS, { value: chosen, name: chosen }];
  const choice = (to: number, words: string) =>
    askLink(call, question, {
      change: { at: to },
      words,
      kind: "choice",
      isChosen: Math.abs(at - to) < 60,
    });
  const step = (to: number, words: string, key: string) =>
    askLink(call, question, { change: { at: to }, words, key, kind: "button second" });
  const gap = nextGap(call, question);
  const fields = html`<input type="hidden" name="silent" value="${silent.join(",")}"${own}><input type="hidden" name="zone" value="${zone}"${own}>${isSwept && html`<input type="hidden" name="sweep" value="14"${own}>`}
${
  as !== null &&
  html`<div class="field inline"><label for="sim-rule">If</label><select id="sim-rule" name="rule"${own}>${optionsOf(rules, as)}</select></div>`
}
<div class="field inline"><label for="sim-at">${as === null ? "If it fires at" : "fires at"}</label><input id="sim-at" name="at" type="datetime-local" value="${atText(at, zone)}"${own}></div>
<div class="field inline"><label for="sim-level">level</label><select id="sim-level" name="level"${own}>${optionsOf(levels, chosen)}</select></div>`;
  const show = html`<button class="button second"${isDraft && html`${own} formaction="${base}${path}/edit" formnovalidate`}>Show</button>`;
  return html`<h2>Try it</h2><p class="soft small">A trial: it saves nothing and rings nobody.</p>
<div class="choices">${choice(now, "Now")} ${choice(nextHour(now, zone, 3), "Next 03:00")} ${choice(nextHour(now, zone, 3, 6), "Saturday 03:00")}${
    gap !== null && html` ${choice(gap, "Next gap")}`
  }</div>
<details id="asked-more"><summary>${clockIn(at, zone)} <span class="soft">${zone}</span></summary>${
    isDraft
      ? html`<div class="filters">${fields}${show}</div>`
      : html`<form class="filters" method="get" action="${base}${path}">${fields}${show}</form>`
  }
<div class="buttons">${step(at - HOUR, "An hour earlier", "ArrowLeft")} ${step(at + HOUR, "An hour later", "ArrowRight")}</div></details>`;
}

const LOOKED_AHEAD = 14 * 24 * HOUR;

/** When a schedule of the ladder next has nobody; null: never within a fortnight. */
function nextGap({ tenant: { store }, now }: PageCall, { project, rule }: LadderQuestion) {
  const names = new Set(rule.escalations.flatMap(({ schedules }) => schedules));
  const begins = [...names].slice(0, 5).flatMap((name) => {
    const schedule = findForLadder(store, project, name);
    if (schedule === null) return [];
    const work = followPreview(followed(store, schedule), { from: now, until: now + LOOKED_AHEAD });
    for (let step = work.next(); ; step = work.next())
      if (step.done) return step.value.gaps.slice(0, 1).map(({ starts_at }) => starts_at);
  });
  return begins.length === 0 ? null : Math.max(now, Math.min(...begins));
}

/** The way to ring it, as a rule that is stored does. */
export function forReal(call: PageCall, { project, rule }: LadderQuestion): Markup {
  if (rule.id === 0) return html``;
  const at = pathOf("p", project.name, "rules", rule.name, "drill");
  return html`<p class="buttons"><a class="button second" href="${call.base}${at}">${icon("bell-ring")}Ring it for real …</a> <span class="soft small">As an alert of ${rule.name} does now; each message says Drill. First you see whom it rings.</span></p>`;
}
