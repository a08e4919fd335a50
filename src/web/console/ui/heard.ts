import { getProject } from "../../../core/projects/projects.ts";
import type { SourceAnswer } from "../../../core/projects/source.ts";
import { getSource, listSources } from "../../../core/projects/sources.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Proposal } from "../../../in/connect/apart.ts";
import { firstHeardOf } from "../../../tenant/connect-sender.ts";
import { type PageCall, pathOf, type Section } from "../screen.ts";
import { levelBadge } from "./level.ts";
import { markedTemplate } from "./message.ts";
import { clockTime } from "./times.ts";
import { newRulePage, remedy, way } from "./way.ts";

/** Seconds for which a new source is waited for. */
const AN_HOUR = 3600;
/** More aren't connected at once by hand. */
const MOST = 5;

/** What became of the first events of what was connected lately; green with the first, and nothing where nothing is new. */
export function heardSection(call: PageCall, project: string): Section {
  const { store } = call.tenant;
  const home = getProject(store, project);
  const known = new Set(call.tenant.ingest.tallies().map(({ sourceId }) => sourceId));
  const fresh = listSources(store, home)
    .filter(({ created_at }) => call.now - created_at < AN_HOUR)
    // Of what sent before anybody listened the first event isn't known.
    .filter(
      ({ name }) => isHeard(call, project, name) || !known.has(getSource(store, home, name).id),
    )
    .sort((a, b) => b.created_at - a.created_at)
    .slice(0, MOST);
  return {
    watches: [...fresh.map(({ name }) => `source:${project}/${name}`), `project:${project}`],
    draw: () => html`${fresh.map((source) => one(call, project, source))}`,
  };
}

const isHeard = ({ tenant }: PageCall, project: string, source: string) =>
  firstHeardOf(tenant, { project, source }) !== null;

function one(call: PageCall, project: string, { name }: SourceAnswer): Markup {
  const heard = firstHeardOf(call.tenant, { project, source: name });
  if (heard === null)
    return html`<p class="notice">◌ listening for <strong>${name}</strong> … <a class="noscript" href="${call.base}${call.at}">Look again</a></p>`;
  const { at, message, level, template, rules, alert, pages, proposes } = heard;
  return html`<div class="notice notice-good"><p><span class="good">✓ ${name} sent an event</span>, ${clockTime(call, at)}: ${levelBadge(level)} <span class="message">${message}</span></p>
<p>Its template: <span class="message">${markedTemplate(template)}</span></p>
<p>${
    rules.length === 0
      ? html`No rule matches it, so nobody is notified. ${remedy(call, newRulePage(project), "Make a rule")}`
      : html`Matched by ${rules.map((rule, i) => html`${i > 0 && ", "}${way(call, pathOf("p", project, "rules", rule), rule)}`)}${
          alert !== null && html`, in alert <a href="${call.base}/a/${alert}">#${alert}</a>`
        }; ${pages.length === 0 ? "it pages nobody" : `pages ${pages.join(", ")}`}.`
  }</p>${proposes !== null && proposal(call, project, proposes)}</div>`;
}

/** Each rule with the identifiers that it could have, in its form and not yet saved. */
function proposal(call: PageCall, project: string, { rules, identifier_keys }: Proposal): Markup {
  const query = identifier_keys.map((key) => `identifier=${encodeURIComponent(key)}`).join("&");
  return html`<p>Its labels name what it is about: ${identifier_keys.map((key, i) => html`${i > 0 && ", "}<span class="message">${key}</span>`)}. One alert for each of these: ${rules.map(
    (rule, i) =>
      html`${i > 0 && ", "}${remedy(call, `${pathOf("p", project, "rules", rule)}?${query}`, `in ${rule}`)}`,
  )}</p>`;
}
