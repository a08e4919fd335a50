import { getProject } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { lastFriday } from "../../../ground/kit/wall-time.ts";
import { sourcesOf } from "../../../in/ingest/dry-run/lines.ts";
import { heardSince, isLearning } from "../../../in/ingest/first-seen.ts";
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

/** The templates of a project, and which rules would take them: also those that open no alert. */
export const templatesScreen: Screen = {
  path: "/p/{project}/lines/templates",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    return {
      title: `${name} · Templates`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: () => linesTabs(call, name, "templates"),
        filter: () => filterLine(call, name),
        fresh: { watches: [`project:${name}`], draw: () => freshSection(call, name) },
        templates: { watches: [`project:${name}`], draw: () => templateTable(call, name) },
      },
    };
  },
};

function askedTemplates({ query }: PageCall) {
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

/** New ones that are looked at, and those that are shown. */
const MOST_NEW = 200;
const MOST_SHOWN = 20;

/** What was never heard before the last Friday, the worst first: for whoever begins a week, or a shift. */
function freshSection(call: PageCall, project: string): Markup {
  const { tenant, base, now, look } = call;
  const { q, unmatched, after } = askedTemplates(call);
  if (q !== "" || unmatched || after !== "") return html``;
  const { id } = getProject(tenant.store, project);
  const newSince = lastFriday(now, look.zone);
  const { templates, next } = tenant.ingest.templates(id, {
    new_since: newSince,
    limit: MOST_NEW,
  });
  const learned = learnedIn(call, id);
  const [told, aside] = [false, true].map((isAside) =>
    templates.filter((one) => learned(one) === isAside),
  ) as [TemplateAnswer[], TemplateAnswer[]];
  const heading = html`<summary>New since Friday: ${told.length === 0 ? "nothing" : `${counted(told.length, "template")}${next === null ? "" : " or more"}`}</summary>`;
  const lines = base + pathOf("p", project, "lines");
  const sources = [...new Set(aside.map(({ source }) => source))];
  return html`<details id="new-templates"${told.length > 0 && html` open`}>${heading}<p class="soft">Never seen before ${clockTime(call, newSince)}, the highest level first.${
    aside.length > 0 &&
    ` Not among them: ${counted(aside.length, "template")} that ${sources.join(", ")} said in ${sources.length === 1 ? "its" : "their"} first 24 hours.`
  }</p>${
    told.length > 0 &&
    html`<ul class="rule-alerts">${told
      .slice(0, MOST_SHOWN)
      .map(
        ({ template_id, template, level, count, first_seen, last_seen, source, rules }) =>
          html`<li>${level !== null && levelBadge(level)} <a class="message" dir="auto" href="${lines}?template=${template_id}">${markedTemplate(template)}</a> <span class="soft">${counted(count, "event")}${source !== "" && ` from ${source}`}${first_seen !== null && html`, first ${ago(call, first_seen)}`}${count > 1 && last_seen !== null && html`, last ${ago(call, last_seen)}`} · </span>${takers(call, project, { template_id, rules })}</li>`,
      )}</ul>`
  }${told.length > MOST_SHOWN && html`<p class="soft">The first ${MOST_SHOWN} of them.</p>`}</details>`;
}

/** Whether a template came first while its source was new itself. */
function learnedIn(
  { tenant: { store } }: PageCall,
  projectId: number,
): (one: TemplateAnswer) => boolean {
  const heard = heardSince(store, projectId);
  const sinceOf = new Map(
    sourcesOf(store, projectId).map(({ id, name }) => [name, heard.get(id) ?? null]),
  );
  return ({ source, first_seen }) => isLearning(sinceOf.get(source) ?? null, first_seen ?? 0);
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
          unmatched && q === ""
            ? "Every template here may match a rule."
            : "No template matches the filter.",
          html`<a href="${base}${atOf(project)}">Clear</a>`,
        )
      : empty("No event has come yet.");
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
  const { template_id, template, count, first_seen, last_seen, level } = one;
  const share = events === 0 ? 0 : (count / events) * 100;
  const lines = `${call.base}${pathOf("p", project, "lines")}?template=${template_id}`;
  const seen = (at: number | null) =>
    at === null ? html`<span class="soft">unknown</span>` : ago(call, at);
  return html`<tr><td data-label="template"><div>${level !== null && levelBadge(level)} <a class="message" dir="auto" href="${lines}">${markedTemplate(template)}</a></div></td>
<td class="num" data-label="events">${count.toLocaleString("en-US")}</td>
<td class="num" data-label="share">${share > 0 && share < 0.1 ? "< 0.1" : share.toFixed(1)} %</td>
<td data-label="first">${seen(first_seen)}</td><td data-label="last">${seen(last_seen)}</td>
<td data-label="rules"><div>${takers(call, project, one)} <a class="small" href="${call.base}/silences/new?project=${encodeURIComponent(project)}&amp;template=${template_id}" aria-label="Silence this kind of message">Silence</a></div></td></tr>
`;
}

/** The rules that may take it; where none does, a way to make one. */
function takers(
  call: PageCall,
  project: string,
  { template_id, rules }: Pick<TemplateAnswer, "template_id" | "rules">,
): Piece {
  if (rules.length === 0)
    return html`<span class="warn">no rule</span> ${makeRule(call, project, template_id)}`;
  return rules.map(
    (rule, i) => html`${i > 0 && ", "}${way(call, pathOf("p", project, "rules", rule), rule)}`,
  );
}

function makeRule(call: PageCall, project: string, template: string): Markup | null {
  const path = newRulePage(project);
  return remedy(call, `${path}?template=${template}`, "Make a rule");
}
