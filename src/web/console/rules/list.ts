import { countUnresolved } from "../../../core/alerts/too-many.ts";
import type { Condition } from "../../../core/projects/condition.ts";
import { learningWords } from "../../../core/projects/learning-words.ts";
import { missingSubject } from "../../../core/projects/missing.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import type { RuleBody, StoredRule } from "../../../core/projects/rule.ts";
import { learnedNow } from "../../../core/projects/rule-actions.ts";
import { listRules } from "../../../core/projects/rules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { ladderNow, minutesWords } from "../ui/ladder-now.ts";
import { levelWord } from "../ui/level.ts";
import { counted, empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { timeOnClock } from "../ui/times.ts";
import { newRulePage } from "../ui/way.ts";
import { type RuleContext, readRuleContext } from "./rule-context.ts";

const USUAL_LEVEL = 400;

/** A project's rules in words: what opens an alert, and whom it would page now. */
export const rulesScreen: Screen = {
  path: "/p/{project}/rules",
  view(call) {
    const project = getProject(call.tenant.store, call.params["project"] ?? "");
    const watches = [`project:${project.name}`, "oncall:*", "people"];
    return {
      title: `Rules · ${project.name}`,
      heading: html`${project.name}`,
      nav: "projects",
      sections: {
        head: () => head(call, project),
        rules: { watches: [...watches, "alerts"], draw: () => list(call, project) },
      },
    };
  },
};

function head(call: PageCall, { name }: Project): Markup {
  const at = newRulePage(name);
  return html`${projectTabs(call, name, "rules")}
<div class="buttons"><a class="button" href="${call.base}${at}" data-key="n" aria-keyshortcuts="n" title="New rule (n)">New rule</a> <a class="button second" href="${call.base}/ladders">Ladders: who would be woken</a></div>`;
}

async function list(call: PageCall, project: Project): Promise<Markup> {
  const { store } = call.tenant;
  const rules = listRules(store, project.id);
  if (rules.length === 0)
    return empty(
      "There are no rules. Events are stored, and nobody is notified.",
      html`<a class="button" href="${call.base}${newRulePage(project.name)}">Make the first rule</a>`,
    );
  const around = await readRuleContext(call, project, USUAL_LEVEL);
  return html`<ul class="cards rule-cards" data-list>${rules.map((rule) => card(call, rule, around))}</ul>`;
}

function card(call: PageCall, rule: StoredRule, around: RuleContext): Markup {
  const { base, tenant } = call;
  const at = pathOf("p", around.project.name, "rules", rule.name);
  const open = countUnresolved(tenant.store, rule);
  const alerts = `/alerts?project=${encodeURIComponent(around.project.name)}&rule=${encodeURIComponent(rule.name)}`;
  return html`<li class="card" id="rule-${rule.id}" data-row><div class="card-head"><h2><a href="${base}${at}">${rule.name}</a></h2>${
    open > 0 &&
    html`<a class="state state-open" href="${base}${alerts}">${counted(open, "open alert")}</a>`
  }</div>
${learningWords(learnedNow(tenant.store, { projectId: around.project.id, now: call.now }, rule), {
  now: call.now,
  when: (at) => timeOnClock(call, at),
}).map(
  (words) => html`<p class="soft">${words}</p>`,
)}<dl class="facts"><div><dt>When</dt><dd>${whenWords(rule)}</dd></div>
<div><dt>Fires</dt><dd>${firesWords(rule)}</dd></div>
<div><dt>Then</dt><dd>${ladderNow(call, rule, around)}</dd></div></dl></li>
`;
}

/** A rule in words. Pure. */

const OPS: Readonly<Record<Condition["op"], string>> = {
  eq: "is",
  neq: "isn't",
  gte: "≥",
  lte: "≤",
  in: "is one of",
  matches: "matches",
  not_in: "isn't one of",
  not_matches: "doesn't match",
};

/** "error or worse, from web, with “payment” in it, duration_ms ≥ 2000" */
function whenWords({
  match,
  conditions,
  missing,
}: Pick<RuleBody, "match" | "conditions" | "missing">): string {
  const {
    min_level,
    sources,
    tags,
    template_contains: text,
    first_seen_days: days,
    unusual,
  } = match;
  const parts = [
    min_level === null
      ? "any event"
      : min_level >= 500
        ? levelWord(min_level)
        : `${levelWord(min_level)} or worse`,
    sources.length > 0 && `from ${anyOf(sources)}`,
    tags.length > 0 && `tagged ${anyOf(tags)}`,
    text !== "" && `with “${text}” in it`,
    days !== null && `never seen before or not for ${counted(days, "day")}`,
    unusual !== null &&
      `more than ${unusual.factor} times as many as usual and at least ${unusual.at_least}`,
    ...conditions.map(conditionWords),
    missing !== null && missingWords(missing),
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function missingWords(missing: NonNullable<RuleBody["missing"]>): string {
  const how = "no longer comes, by the rhythm of two weeks";
  const { template, source } = missingSubject(missing);
  if (source !== null) return `once nothing of ${source} comes, by the rhythm of two weeks`;
  return template === null
    ? `of each template that ${how}`
    : `of template ${template} once it ${how}`;
}

function conditionWords({ key, op, value }: Condition): string {
  return `${key} ${OPS[op]} ${Array.isArray(value) ? anyOf(value) : String(value)}`;
}

/** "at the first event", "after 3 events from 2 sources within 5 min, one alert for each provider" */
function firesWords({
  fire_after: fire,
  identifier_keys: keys,
  for_minutes: wait,
  missing,
}: RuleBody): string {
  const many = fire.count > 1 || fire.distinct_sources > 1;
  const first = many
    ? `after ${counted(fire.count, "event")}${fire.distinct_sources > 1 ? ` from ${fire.distinct_sources} sources` : ""} within ${minutesWords(fire.window_minutes)}`
    : "at the first event";
  if (missing !== null)
    return `once it is missing${keys.length === 0 ? "" : `, one alert for each ${keys.join(" and ")}`}`;
  const lasting = wait === 0 ? first : `${first}, if it lasts ${minutesWords(wait)}`;
  return keys.length === 0 ? lasting : `${lasting}, one alert for each ${keys.join(" and ")}`;
}

function anyOf(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
