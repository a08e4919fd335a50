import { getProject } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { TemplateAnswer } from "../../../in/ingest/templates.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { keyed } from "../ui/form.ts";
import { levelBadge } from "../ui/level.ts";
import { markedTemplate } from "../ui/message.ts";
import { counted, empty } from "../ui/pieces.ts";
import { ago, clockTime } from "../ui/times.ts";
import { newRulePage, remedy, way } from "../ui/way.ts";
import { linesTabs } from "./tabs.ts";

const PAGE = 50;

/** What a project hears, and which rules would take it: also what nobody would be told of. */
export const templatesScreen: Screen = {
  path: "/p/{project}/lines/templates",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    return {
      title: `${name} · Templates`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: { watches: [], draw: () => linesTabs(call, name, "templates") },
        filter: { watches: [], draw: () => filterLine(call, name) },
        fresh: { watches: [`project:${name}`], draw: () => freshSection(call, name) },
        templates: { watches: [`project:${name}`], draw: () => templateTable(call, name) },
      },
    };
  },
};

interface AskedTemplates {
  q: string;
  unmatched: boolean;
  after: string;
}

function askedTemplates({ query }: PageCall): AskedTemplates {
  return {
    q: (query.get("q") ?? "").trim().slice(0, 200),
    unmatched: query.get("unmatched") === "true",
    after: (query.get("after") ?? "").slice(0, 64),
  };
}

const atOf = (project: string) => pathOf("p", project, "lines", "templates");

function filterLine(call: PageCall, project: string): Markup {
  const { q, unmatched } = askedTemplates(call);
  const at = call.base + atOf(project);
  return html`<form class="filters" method="get" action="${at}" role="search">
<input type="search" id="q" name="q" value="${q}" maxlength="200" aria-label="Words in the templates" placeholder="Words in the templates"${keyed("/", "Search")}>
<label class="check" for="unmatched"><input type="checkbox" id="unmatched" name="unmatched" value="true"${unmatched && html` checked`}> Matched by no rule</label>
<button class="button second">Search</button>${(q !== "" || unmatched) && html`<a href="${at}">Clear</a>`}</form>`;
}

const NEW_SECONDS = 7 * 86_400;
const MOST_NEW = 10;

/** What the project first heard in the last week. */
function freshSection(call: PageCall, project: string): Markup {
  const { tenant, base, now } = call;
  const { q, unmatched, after } = askedTemplates(call);
  if (q !== "" || unmatched || after !== "") return html``;
  const { id } = getProject(tenant.store, project);
  const newSince = now - NEW_SECONDS;
  const { templates, next } = tenant.ingest.templates(id, { newSince, limit: MOST_NEW });
  if (templates.length === 0) return html``;
  const lines = base + pathOf("p", project, "lines");
  return html`<details id="new-templates" open><summary>New since ${clockTime(call, newSince)}</summary><ul>${templates.map(
    ({ template_id, template, level, count, first_seen }) =>
      html`<li>${level !== null && levelBadge(level)} <a class="message" dir="auto" href="${lines}?template=${template_id}">${markedTemplate(template)}</a> <span class="soft">${counted(count, "event")}${first_seen !== null && html`, first ${ago(call, first_seen)}`}</span></li>`,
  )}</ul>${next !== null && html`<p class="soft">The ${MOST_NEW} most frequent of them.</p>`}</details>`;
}

function templateTable(call: PageCall, project: string): Markup {
  const { tenant, base } = call;
  const { id } = getProject(tenant.store, project);
  const { q, unmatched, after } = askedTemplates(call);
  const { templates, events, next } = tenant.ingest.templates(id, {
    q,
    unmatched,
    after,
    limit: PAGE,
  });
  const isAsked = q !== "" || unmatched;
  if (templates.length === 0)
    return isAsked
      ? empty(
          unmatched && q === "" ? "A rule may take whatever is heard." : "None are like that.",
          html`<a href="${base}${atOf(project)}">Clear</a>`,
        )
      : empty("Nothing was heard yet.");
  const more = new URLSearchParams({
    q,
    ...(unmatched && { unmatched: "true" }),
    after: next ?? "",
  });
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th>template</th><th class="num">events</th><th class="num">share</th><th>first</th><th>last</th><th>rules that may take it</th></tr></thead>
<tbody>${templates.map((one) => row(call, project, { one, events }))}</tbody></table></div>
${next !== null && html`<nav class="pages" aria-label="Pages"><a href="${base}${atOf(project)}?${more.toString()}">More templates</a></nav>`}`;
}

function row(
  call: PageCall,
  project: string,
  { one, events }: { one: TemplateAnswer; events: number },
): Markup {
  const { template_id, template, count, first_seen, last_seen, level, rules } = one;
  const share = events === 0 ? 0 : (count / events) * 100;
  const lines = `${call.base}${pathOf("p", project, "lines")}?template=${template_id}`;
  const seen = (at: number | null) =>
    at === null ? html`<span class="soft">unknown</span>` : ago(call, at);
  return html`<tr><td data-label="template"><div>${level !== null && levelBadge(level)} <a class="message" dir="auto" href="${lines}">${markedTemplate(template)}</a></div></td>
<td class="num" data-label="events">${count.toLocaleString("en-US")}</td>
<td class="num" data-label="share">${share > 0 && share < 0.1 ? "< 0.1" : share.toFixed(1)} %</td>
<td data-label="first">${seen(first_seen)}</td><td data-label="last">${seen(last_seen)}</td>
<td data-label="rules"><div>${
    rules.length > 0
      ? rules.map(
          (rule, i) =>
            html`${i > 0 && ", "}${way(call, pathOf("p", project, "rules", rule), rule)}`,
        )
      : html`<span class="warn">no rule</span> ${makeRule(call, project, template_id)}`
  } <a class="small" href="${call.base}/silences/new?project=${encodeURIComponent(project)}&amp;template=${template_id}" aria-label="Silence this kind of message">Silence</a></div></td></tr>
`;
}

function makeRule(call: PageCall, project: string, template: string): Markup | null {
  const path = newRulePage(project);
  return remedy(call, `${path}?template=${template}`, "Make a rule");
}
