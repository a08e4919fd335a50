import { countUnresolved } from "../../../core/alerts/too-many.ts";
import { learningWords } from "../../../core/projects/learning-words.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import { learnedNow } from "../../../core/projects/rule-actions.ts";
import { listRules } from "../../../core/projects/rules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { ladderNow } from "../ui/ladder-now.ts";
import { counted, empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { timeOnClock } from "../ui/times.ts";
import { newRulePage } from "../ui/way.ts";
import { type RuleContext, readRuleContext } from "./rule-context.ts";
import { firesWords, whenWords } from "./sentence.ts";

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
        head: { watches: [], draw: () => head(call, project) },
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
