import { projectWrite } from "../../../core/projects/project.ts";
import { getProject } from "../../../core/projects/projects.ts";
import type { SourceAnswer, SourceFacts } from "../../../core/projects/source.ts";
import { getSource, listSources } from "../../../core/projects/sources.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { templateCountsBySource } from "../../../in/ingest/templates.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { projectNowOf } from "../../../tenant/overview.ts";
import { callProject, dropProject, projectContents } from "../../../tenant/project-verbs.ts";
import { sourceFactsOf } from "../../../tenant/source-verbs.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { field, keyed } from "../ui/form.ts";
import { heardSection } from "../ui/heard.ts";
import { managers } from "../ui/people-names.ts";
import { counted, empty } from "../ui/pieces.ts";
import { hourPlot } from "../ui/plot.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { kindTitle } from "../ui/source-kinds.ts";
import { ago } from "../ui/times.ts";
import { remedy, way } from "../ui/way.ts";

/** What only managers do to a project; others are told whom to ask. */
function governSection(call: PageCall, project: string): Markup {
  if (!isManager(call.who.role))
    return html`<p class="soft">Owners and admins rename and delete projects. Ask ${managers(call)}.</p>`;
  const at = pathOf("p", project);
  const [rename, remove] = [`${at}/rename`, `${at}/delete`];
  const isOpen = (action: string) => call.returned?.action === action && html` open`;
  return html`<details id="rename"${isOpen(rename)}><summary>Rename the project</summary>
<form class="form" method="post" action="${call.base}${rename}">
${field(call, rename, { name: "name", label: "New name", value: project, required: true, autocomplete: "off", hint: "Tokens still work. The addresses of its pages change." })}
<p class="form-foot"><button class="button second">Rename</button></p></form></details>
<details id="delete"${isOpen(remove)}><summary>Delete the project</summary>
<p>${goes(call, project)}</p>
<form class="form" method="post" action="${call.base}${remove}">
${field(call, remove, { name: "name", label: "Its name, to be sure", required: true, autocomplete: "off" })}
<p class="form-foot"><button class="button danger">Delete it with all of this</button></p></form></details>
${changesLink(call, "project", getProject(call.tenant.store, project).id)}`;
}

/** What goes with it, counted. */
function goes({ tenant }: PageCall, project: string): string {
  const of = projectContents(tenant.store, project);
  const parts = [
    of.open > 0
      ? `${counted(of.alerts, "alert")}, ${of.open} of them not resolved`
      : counted(of.alerts, "alert"),
    counted(of.sources, "source"),
    counted(of.rules, "rule"),
    counted(of.channels, "channel"),
    counted(of.actions, "action"),
    counted(of.schedules, "schedule"),
  ];
  return `With it go ${parts.join("; ")}; and its kept lines. Its senders are refused from then on. It can't be undone.`;
}

const governForms: Readonly<Record<string, Form>> = {
  rename: {
    verb: "renameProject",
    act({ tenant, who, params }, form) {
      mustManage(who.role);
      const { name } = check(projectWrite, { name: form.get("name") ?? "" }, "body");
      tenant.store.write((tx) => callProject(tx, params["project"] ?? "", name));
      return { said: `Its name is ${name} now.`, to: pathOf("p", name) };
    },
  },
  delete: {
    verb: "deleteProject",
    act({ tenant, who, params }, form) {
      mustManage(who.role);
      const { project = "" } = params;
      if (form.get("name") !== project)
        throw new ServiceError("name_mismatch", "That is not the project's name.", {
          details: [{ field: "/name", reason: `must be ${project}` }],
        });
      tenant.store.write((tx) => dropProject(tx, project));
      return { said: `Project ${project} is deleted.`, to: "/p" };
    },
  },
};

/** A project by its sources: what is heard of each, and how more are connected. */
export const projectScreen: Screen = {
  path: "/p/{project}",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    const topic = `project:${name}`;
    return {
      title: `${name} · Sources`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, name, "sources"),
        heard: heardSection(call, name),
        sources: { watches: [topic, `source:${name}/*`], draw: () => sourceTable(call, name) },
        connect: () =>
          html`<p class="buttons"><a class="button" href="${call.base}${pathOf("p", name, "connect")}"${keyed("n", "Connect what you have")}>Connect what you have</a></p>`,
        govern: { watches: [topic], draw: () => governSection(call, name) },
      },
    };
  },
  forms: governForms,
};

/** Seconds after which a source that is quiet is pointed out. */
const QUIET = 86_400;

/** The project's sources, with what is heard of each. */
function sourceTable(call: PageCall, name: string): Markup {
  const { tenant, who } = call;
  const project = getProject(tenant.store, name);
  const sources = listSources(tenant.store, project);
  if (sources.length === 0)
    return empty(
      "Nothing sends to this project yet.",
      html`<p class="soft">A source is one sender with a token of its own.</p>`,
    );
  const now = projectNowOf(tenant, { name, accountId: who.accountId });
  const heard = new Map(now.sources.map((one) => [one.name, one]));
  const templates = templateCountsBySource(tenant.store, project.id);
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th>source</th><th>last event</th><th>last hour</th><th>lines</th><th class="num">templates</th><th class="num">refused</th></tr></thead>
<tbody>${sources.map((source) => {
    const { id } = getSource(tenant.store, project, source.name);
    const { last_event_at = null, minutes = [] } = heard.get(source.name) ?? {};
    const facts = sourceFactsOf(tenant, { id, name: source.name }, false);
    return row(call, name, {
      source,
      facts,
      lastAt: last_event_at,
      minutes,
      templates: templates.get(id) ?? 0,
    });
  })}</tbody></table></div>`;
}

interface Row {
  source: SourceAnswer;
  facts: SourceFacts;
  lastAt: number | null;
  minutes: readonly number[];
  templates: number;
}

function row(call: PageCall, project: string, of: Row): Markup {
  const { source, facts, lastAt, minutes, templates } = of;
  const { name, kind, retain_logs } = source;
  const lines = `${pathOf("p", project, "lines")}?source=${encodeURIComponent(name)}`;
  const refused = Object.values(facts.refused).reduce((sum, n) => sum + n, 0);
  return html`<tr><td data-label="source"><div><a href="${call.base}${pathOf("p", project, "sources", name)}">${name}</a> <span class="soft small">${kindTitle(kind)}</span></div></td>
<td data-label="last event">${lastEvent(call, lastAt)}</td>
<td data-label="last hour">${hourPlot(minutes)}</td>
<td data-label="lines">${retain_logs ? way(call, lines, "kept") : html`<span class="soft">not kept</span>`}</td>
<td class="num" data-label="templates">${templates === 0 ? "0" : way(call, pathOf("p", project, "lines", "templates"), String(templates))}</td>
<td class="num" data-label="refused">${refused === 0 ? html`<span class="soft">none</span>` : html`<a class="wrong" href="${call.base}${pathOf("p", project, "sources", name)}">${refused}</a>`}</td></tr>
`;
}

function lastEvent(call: PageCall, at: number | null): Markup {
  if (at === null) return html`<span class="soft">none yet</span>`;
  if (call.now - at < QUIET) return ago(call, at);
  return html`<span class="warn">${ago(call, at)}, quiet</span> ${remedy(call, "/heartbeats", "Expect it")}`;
}
