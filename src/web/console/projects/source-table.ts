import { getProject } from "../../../core/projects/projects.ts";
import type { SourceAnswer, SourceFacts } from "../../../core/projects/source.ts";
import { getSource, listSources } from "../../../core/projects/sources.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { templateCountsBySource } from "../../../in/ingest/templates.ts";
import { projectNowOf } from "../../../tenant/overview.ts";
import { sourceFactsOf } from "../../../tenant/source-facts.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { empty } from "../ui/pieces.ts";
import { hourPlot } from "../ui/plot.ts";
import { kindTitle } from "../ui/source-kinds.ts";
import { ago } from "../ui/times.ts";
import { remedy, way } from "../ui/way.ts";

/** Seconds after which a source that is quiet is pointed out. */
const QUIET = 86_400;

/** The project's sources, with what is heard of each. */
export function sourceTable(call: PageCall, name: string): Markup {
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
