import { countAlerts } from "../../../core/alerts/counts.ts";
import { labelFault } from "../../../core/alerts/label-query.ts";
import { readAlertQuery } from "../../../core/alerts/query.ts";
import { triage } from "../../../core/alerts/triage.ts";
import { dutyAt } from "../../../core/oncall/duty.ts";
import { listSchedules } from "../../../core/oncall/schedules.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { type AskedList, listAddress, type TabName } from "../ui/asked-alerts.ts";
import { naming } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";

const NONE: Readonly<Record<TabName, string>> = {
  open: "Nothing is open.",
  acknowledged: "Nobody has an alert now.",
  resolved: "None was resolved so far.",
  silenced: "No open alert is silenced.",
  mine: "None is yours: none paged you, was given to you or taken by you.",
};

/** What an empty list means, told apart: never any, none that match, all done. */
export async function nothingThere(call: PageCall, asked: AskedList): Promise<Markup> {
  const { tenant, who, base } = call;
  const fault = labelFault(readAlertQuery(asked.q).labels);
  if (asked.q !== "" || asked.before !== null)
    return empty(
      asked.q === ""
        ? "There are no more."
        : fault === null
          ? "None match the filter."
          : `Nothing is looked for: the filter ${fault}.`,
      html`<p><a class="button second" href="${base}${listAddress({ ...asked, q: "", before: null })}">Clear</a></p>`,
    );
  if (configVersions(tenant.store).length === 0)
    return empty(
      "Nothing is set up yet.",
      html`<p class="soft">First make a phone ring, then send an event, then answer a page.</p><p><a class="button" href="${base}/welcome">First steps</a></p>`,
    );
  const { open, acknowledged, resolved } = countAlerts(tenant.store, { accountId: who.accountId });
  if (open + acknowledged + resolved === 0) {
    const first = remedy(call, "/p", "Connect a source");
    return empty(
      "No alert has opened so far.",
      html`${lastEvent(call)}<p class="soft">An alert opens when a rule matches an event.${first !== null && html` ${first}`}</p><p><a class="button" href="${base}/welcome">First steps</a></p>`,
    );
  }
  if (asked.tab !== "open") return empty(NONE[asked.tab]);
  return empty(NONE.open, html`${await lastEnd(call)}${onCall(call)}${lastEvent(call)}`);
}

async function lastEnd(call: PageCall): Promise<Piece> {
  const { store } = call.tenant;
  const { rows } = await triage(store, { order: "need", states: ["resolved"], limit: 1 });
  const at = rows[0]?.resolved_at ?? null;
  return at !== null && html`<p class="soft">The last one was resolved ${ago(call, at)}.</p>`;
}

const MOST_SCHEDULES = 12;

/** Who has duty now, so that it is seen when nobody does. */
function onCall(call: PageCall): Piece {
  const { store } = call.tenant;
  const nameOf = naming(store);
  const all = configVersions(store)
    .slice(0, 50)
    .flatMap(({ project }) => {
      const found = getProject(store, project);
      const named = listSchedules(store, found);
      return named.map(({ name }) => ({ name, projectId: found.id, project }));
    })
    .slice(0, MOST_SCHEDULES);
  if (all.length === 0) return false;
  return html`<p class="soft">On call: ${all.map(({ name, projectId, project }, i) => {
    const duty = dutyAt(store, { projectId, name }, call.now);
    const accounts = duty?.onDuty ?? [];
    const nobody = duty?.off
      ? "nobody, outside of its hours"
      : html`<strong class="wrong">nobody</strong>`;
    const who = accounts.length === 0 ? nobody : accounts.map(nameOf).join(", ");
    return html`${i > 0 && ", "}${who} (${project} / ${name})`;
  })}.</p>`;
}

/** So that quiet isn't taken for deaf. */
function lastEvent(call: PageCall): Markup {
  const [latest] = call.tenant.ingest
    .tallies()
    .filter(({ seenAt }) => seenAt > 0)
    .sort((a, b) => b.seenAt - a.seenAt);
  return latest === undefined
    ? html`<p class="soft">No event has come since the box was started.</p>`
    : html`<p class="soft">Last event ${ago(call, latest.seenAt)} from ${latest.source}.</p>`;
}
