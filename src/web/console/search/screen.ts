import { alertId, findAlertRow } from "../../../core/alerts/alert.ts";
import { partsOf } from "../../../core/alerts/parts.ts";
import { LONGEST_QUERY } from "../../../core/alerts/query.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { TemplateAnswer } from "../../../in/ingest/templates.ts";
import { search } from "../../../records/search/search.ts";
import { type PageCall, pathOf, type Screen, type View } from "../screen.ts";
import { button } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { markedTemplate } from "../ui/message.ts";
import { empty } from "../ui/pieces.ts";
import { newRulePage } from "../ui/way.ts";

/** Results that are shown. */
const MOST = 20;

const PAGES: readonly [name: string, path: string][] = [
  ["Alerts", "/alerts"],
  ["On call", "/oncall"],
  ["Projects", "/p"],
  ["Ladders", "/ladders"],
  ["Silences", "/silences"],
  ["Heartbeats", "/heartbeats"],
  ["Numbers", "/numbers"],
  ["People", "/people"],
  ["System", "/system"],
  ["Me", "/me"],
];

/** Everything that has a name, alerts, what can be done with one that is named (`#123`), and what a message is known as. */
export const searchScreen: Screen = {
  path: "/search",
  view(call): View {
    const q = (call.query.get("q") ?? "").trim().slice(0, LONGEST_PASTED);
    return {
      title: q === "" ? "Search" : `${q.slice(0, 80)} · Search`,
      heading: html`Search`,
      nav: "search",
      sections: {
        field: () => field(call, q),
        results: () => results(call, q),
      },
    };
  },
};

function field({ base }: PageCall, q: string): Markup {
  return html`<form class="filters" method="get" action="${base}/search" role="search"><input type="search" name="q" id="find" value="${q}" maxlength="${LONGEST_PASTED}" aria-label="Find" placeholder="Page, project, rule, person, #123, words of an alert, or a message"><button class="button second">Search</button></form>`;
}

async function results(call: PageCall, q: string): Promise<Markup> {
  if (q === "")
    return html`<p class="soft">Pages, projects, rules, people and alerts, by their names and words.</p>`;
  const limit = MOST;
  const found = await search(call.tenant.store, { q: q.slice(0, LONGEST_QUERY), limit });
  const pages = PAGES.filter(
    ([name, path]) => call.leads(path) && name.toLowerCase().includes(q.toLowerCase()),
  );
  const things = found.results.filter(({ path }) => call.leads(path));
  const actions = actionsOf(call, q);
  const known = knownAs(call, q);
  if (pages.length + things.length + known.length === 0 && actions === false)
    return empty("No name and no alert matches.");
  const { base } = call;
  return html`<ul class="list list-card">${knownMessages(call, known)}${pages.map(
    ([name, path]) =>
      html`<li><a href="${base}${path}"><span>${name} <span class="soft">page</span></span>${icon("next")}</a></li>`,
  )}${things.map(
    ({ kind, title, sub, path }) =>
      html`<li><a href="${base}${path}"><span dir="auto">${title} <span class="soft">${kind}${sub !== "" && ` · ${sub}`}</span></span>${icon("next")}</a></li>`,
  )}${actions}</ul>${!found.complete && html`<p class="soft">Not everything was searched. Use more words.</p>`}`;
}

/** "Acknowledge #123", where the words name one that is open. */
function actionsOf(call: PageCall, q: string): Piece {
  const id = /^#?([1-9]\d{0,15})$/.exec(q)?.[1];
  const row = id === undefined ? null : findAlertRow(call.tenant.store, alertId(id));
  if (row === null || row.state === "resolved") return false;
  const action = (what: string, name: string) =>
    html`<li>${button(call, { action: `/a/${row.id}/${what}`, name: `${name} #${row.id}`, kind: "plain" })}</li>`;
  return html`${row.state === "open" && action("ack", "Acknowledge")}${action("resolve", "Resolve")}`;
}

/** What a pasted message is known as in a project. */
interface KnownMessage {
  project: string;
  template: TemplateAnswer;
}

/** Characters of a pasted message. */
const LONGEST_PASTED = 4096;
/** Shorter, or of one word, it is a name that somebody looks for. */
const SHORTEST = 8;
const MOST_PROJECTS = 20;
const MOST_TEMPLATES = 500;
const MOST_FOUND = 4;

/** Templates that a message is of, among the most frequent of each project. */
function knownAs({ tenant }: PageCall, message: string): KnownMessage[] {
  if (message.length < SHORTEST || !/\s/.test(message)) return [];
  const { store, ingest } = tenant;
  return configVersions(store)
    .slice(0, MOST_PROJECTS)
    .flatMap(({ project }) => {
      const { id } = getProject(store, project);
      const { templates } = ingest.templates(id, { limit: MOST_TEMPLATES });
      return templates
        .filter(({ template }) => isOf(message, template))
        .map((template) => ({ project, template }));
    })
    .slice(0, MOST_FOUND);
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, " ");

/** Pure. */
export function isOf(message: string, template: string): boolean {
  return (
    oneLine(message) === oneLine(template) ||
    partsOf(message, template).some(({ variable }) => variable)
  );
}

/** Each with the rules that may take it; where there is none, the way to one. */
function knownMessages(call: PageCall, found: readonly KnownMessage[]): Markup {
  const { base } = call;
  return html`${found.map(({ project, template: { template_id, template, rules } }) => {
    const about = new URLSearchParams({ q: template.split("<*>")[0]?.trim() ?? "" });
    const list = `${pathOf("p", project, "lines", "templates")}?${about.toString()}`;
    const fresh = `${newRulePage(project)}?template=${template_id}`;
    return html`<li><a href="${base}${list}"><span><span class="message">${markedTemplate(template)}</span> <span class="soft">template · ${project}</span></span></a></li>${rules.map(
      (rule) =>
        html`<li><a href="${base}${pathOf("p", project, "rules", rule)}"><span>${rule} <span class="soft">rule that may match it · ${project}</span></span></a></li>`,
    )}${
      rules.length === 0 &&
      html`<li><a href="${base}${fresh}"><span>No rule matches it <span class="soft">make one · ${project}</span></span></a></li>`
    }`;
  })}`;
}
