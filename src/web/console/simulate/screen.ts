import { simulateWrite } from "../../../core/alerts/simulate/shape.ts";
import { simulate } from "../../../core/alerts/simulate.ts";
import { listOverrides } from "../../../core/oncall/overrides.ts";
import { followPreview } from "../../../core/oncall/rotation.ts";
import { findForLadder } from "../../../core/oncall/schedules.ts";
import { findProject, getProject, listProjects } from "../../../core/projects/projects.ts";
import { getRule, listRules } from "../../../core/projects/rules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf, type Screen, type View } from "../screen.ts";
import { nextHour } from "../ui/local-time.ts";
import { empty } from "../ui/pieces.ts";
import { followLadder, untoldAndShared } from "./course.ts";
import { atText, type LadderQuestion, questionAddress, questionIn } from "./question.ts";
import { sweepGrid } from "./sweep-grid.ts";
import { verdictNotice } from "./verdict.ts";

/** If this rule fires then and somebody sleeps: who is woken, when, by what. Nothing is sent, nothing written. */
export const simulateScreen: Screen = {
  path: "/simulate",
  view(call) {
    const { store } = call.tenant;
    const project = call.query.get("project") ?? "";
    const name = call.query.get("rule") ?? "";
    if (project === "" || name === "") return choosing(call, project);
    const found = getProject(store, project);
    return viewOf(call, questionIn(call, { project: found, rule: getRule(store, found.id, name) }));
  },
};

const title = "Who would be woken?";

function viewOf(call: PageCall, question: LadderQuestion): View {
  const { project, rule } = question;
  const watches = [
    "oncall:*",
    "people",
    "silences",
    `channels:${project.name}`,
    `rule:${project.name}/${rule.name}`,
  ];
  return {
    title,
    nav: "oncall",
    sections: {
      asked: { watches: [], draw: () => askedForm(call, question) },
      found: {
        watches,
        async draw() {
          const { store, slices } = call.tenant;
          const { at, level, silent } = question;
          const input = simulateWrite.parse({
            rule: rule.name,
            at,
            silent: [...silent],
            ...(level === null ? {} : { level }),
          });
          const found = await slices.run(
            simulate(store, { projectId: project.id, input, now: call.now }),
          );
          return html`${verdictNotice(call, question, found)}${followLadder(call, question, found)}${untoldAndShared(call, question, found)}`;
        },
      },
      sweep: { watches, draw: () => sweepGrid(call, question) },
      real: { watches: [], draw: () => forReal(call, question) },
    },
  };
}

/** Which rule, where the address doesn't say. */
function choosing(call: PageCall, only: string): View {
  const { store } = call.tenant;
  const one = only === "" ? null : findProject(store, only);
  const names =
    one === null
      ? listProjects(store, { after: "", limit: 100 }).projects.map(({ name }) => name)
      : [one.name];
  const draw = () => {
    const all = names.flatMap((name) =>
      listRules(store, getProject(store, name).id).map((rule) => ({ name, rule: rule.name })),
    );
    if (all.length === 0) return empty("No rules: nobody is woken by anything.");
    return html`<p>Which rule fires?</p><ul>${all
      .slice(0, 200)
      .map(
        ({ name, rule }) =>
          html`<li><a href="${call.base}/simulate?${new URLSearchParams({ project: name, rule }).toString()}">${rule}</a> <span class="soft">${name}</span></li>`,
      )}</ul>`;
  };
  return {
    title,
    nav: "oncall",
    sections: { rules: { watches: ["projects", "project:*"], draw } },
  };
}

const LEVELS = [
  ["", "as the rule has it"],
  ["500", "critical"],
  ["400", "error"],
  ["300", "warn"],
  ["200", "info"],
] as const;

const HOUR = 3600;

function askedForm(call: PageCall, question: LadderQuestion): Markup {
  const { project, rule, zone, at, level, silent } = question;
  const { base, now, tenant } = call;
  const rules = listRules(tenant.store, project.id);
  const chosen = level === null ? "" : String(level);
  const levels = LEVELS.some(([value]) => value === chosen)
    ? LEVELS
    : [...LEVELS, [chosen, chosen] as const];
  const to = (time: number) => `${base}${questionAddress(question, { at: time })}`;
  const step = (time: number, key: string, words: string) =>
    html`<a class="button second" href="${to(time)}" data-key="${key}" aria-keyshortcuts="${key}">${words}</a> `;
  const gap = nextGap(call, question);
  return html`<form class="filters" method="get" action="${base}/simulate"><input type="hidden" name="project" value="${project.name}">${
    silent.length > 0 && html`<input type="hidden" name="silent" value="${silent.join(",")}">`
  }
<div class="field inline"><label for="sim-rule">If</label><select id="sim-rule" name="rule">${rules.map(
    ({ name }) =>
      html`<option value="${name}"${name === rule.name && html` selected`}>${name}</option>`,
  )}</select></div>
<div class="field inline"><label for="sim-at">fires at</label><input id="sim-at" name="at" type="datetime-local" value="${atText(at, zone)}"></div>
<div class="field inline"><label for="sim-level">level</label><select id="sim-level" name="level">${levels.map(
    ([value, words]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
  )}</select></div>
<button class="button">Show</button></form>
<p class="small soft">Times are on the clocks of ${zone}.</p>
<div class="buttons">${step(at - HOUR, "ArrowLeft", "An hour earlier")}${step(at + HOUR, "ArrowRight", "An hour later")}<a href="${to(now)}">Now</a> <a href="${to(nextHour(now, zone, 3))}">Next 03:00</a> <a href="${to(nextHour(now, zone, 3, 6))}">Saturday 03:00</a>${
    gap !== null && html` <a href="${to(gap)}">Next gap</a>`
  }</div>`;
}

const LOOKED_AHEAD = 14 * 24 * HOUR;

/** When a schedule of the ladder next has nobody; null: never within a fortnight. */
function nextGap({ tenant: { store }, now }: PageCall, { project, rule }: LadderQuestion) {
  const names = new Set(rule.escalations.flatMap(({ schedules }) => schedules));
  const begins = [...names].slice(0, 5).flatMap((name) => {
    const schedule = findForLadder(store, project, name);
    if (schedule === null) return [];
    const overrides = listOverrides(store, schedule);
    const work = followPreview(
      { ...schedule, overrides },
      { from: now, until: now + LOOKED_AHEAD },
    );
    for (let step = work.next(); ; step = work.next())
      if (step.done) return step.value.gaps.slice(0, 1).map(({ starts_at }) => starts_at);
  });
  return begins.length === 0 ? null : Math.max(now, Math.min(...begins));
}

function forReal(call: PageCall, { project, rule }: LadderQuestion): Markup {
  const at = pathOf("p", project.name, "rules", rule.name, "drill");
  if (!call.leads(at)) return html``;
  return html`<h2>Ring it for real</h2><p class="soft">A drill takes the same way as an alert, as things stand now. Each message says Drill. First you see whom it rings.</p>
<a class="button second" href="${call.base}${at}">Name the channels</a>`;
}
