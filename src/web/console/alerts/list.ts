import { type AlertRow, findAlertRow, getAlertRow } from "../../../core/alerts/alert.ts";
import { apartOf } from "../../../core/alerts/apart.ts";
import { countAlerts } from "../../../core/alerts/counts.ts";
import { groupFacts, sharedLabels } from "../../../core/alerts/group-facts.ts";
import { type AlertGroup, groupAlerts } from "../../../core/alerts/groups.ts";
import { labelFault } from "../../../core/alerts/label-query.ts";
import { readAlertQuery } from "../../../core/alerts/query.ts";
import { lookAhead } from "../../../core/alerts/rungs-ahead.ts";
import { triage } from "../../../core/alerts/triage.ts";
import { dutyAt } from "../../../core/oncall/duty.ts";
import { listSchedules } from "../../../core/oncall/schedules.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { lastOfAll, nowWords } from "../ui/alert-now.ts";
import { listRow, minutesOfAll } from "../ui/alert-row.ts";
import {
  type AskedList,
  CHOSEN,
  LIST,
  listAddress,
  partIn,
  standsIn,
  type TabName,
  triageFilter,
} from "../ui/asked-alerts.ts";
import { facesOf } from "../ui/faces.ts";
import { groupRow } from "../ui/group-row.ts";
import { naming } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";

/** A page of alerts: rows that stay where they are, also those that left while somebody looked. */
export async function alertList(
  call: PageCall,
  asked: AskedList,
  shown: ListEntries,
): Promise<Markup> {
  const { store } = call.tenant;
  const { entries, named, next, complete } = shown;
  const rows = entries.flatMap((entry) => ("row" in entry ? [entry.row] : []));
  const left = rowsThatLeft(named, asked, entries);
  if (entries.length === 0 && left.length === 0) return nothingThere(call, asked);
  const shared = await sharedLabels(
    store,
    entries.flatMap((entry) => ("group" in entry ? [entry.group] : [])),
  );
  const about = {
    nameOf: naming(store),
    faces: await facesOf(call),
    look: lookAhead(store, call.now),
    last: lastOfAll(store, [...rows, ...left]),
  };
  const minutes = minutesOfAll(call, rows);
  const apart = apartOf(store, [...rows, ...left]);
  const nows = new Map([...rows, ...left].map((row) => [row.id, nowWords(call, row, about)]));
  const first = worst(rows.filter(({ id }) => nows.get(id)?.rings === "me"));
  const draw = (row: AlertRow, isGone = false) =>
    listRow(call, {
      row,
      to: alertAddress(call, asked, row.id),
      isChosen: String(row.id) === call.query.get(CHOSEN),
      isGone,
      isFirst: row.id === first,
      apart: apart.get(row.id),
      minutes: (isGone ? null : minutes.get(row.id)) ?? [],
      now: nows.get(row.id) ?? nowWords(call, row, about),
    });
  const items = entries.map((entry) =>
    "row" in entry
      ? draw(entry.row)
      : groupRow(call, groupFacts(store, entry.group), {
          shared: shared.get(entry.group),
          nameOf: about.nameOf,
        }),
  );
  const on = next === null ? null : listAddress({ ...asked, before: next });
  return html`<p class="new" data-new><button type="button"></button></p>
${!complete && html`<p class="warn">There are too many alerts to group all of them. The rest is in no group and in no count here.</p>`}
<ol class="rows" data-list${next !== null && html` data-more`}>${items}${left.map((row) => draw(row, true))}</ol>
${pages(call, asked, on)}`;
}

/** The alert that stands first; null where the list has none that stands alone. */
export function firstOf({ entries }: ListEntries): number | null {
  const first = entries.find((entry) => "row" in entry);
  return first === undefined ? null : first.row.id;
}

/** Where an alert of the list lies: beside the same list, where there is room. */
function alertAddress({ base, look }: PageCall, asked: AskedList, id: number): string {
  const query = listAddress(asked).replace(/^[^?]*\??/, "");
  const list = look.isWide && query !== "" ? `?${new URLSearchParams({ [LIST]: query })}` : "";
  return `${base}/a/${id}${list}`;
}

/** The highest, and of those the newest: a list is in that order but for what stands before. */
function worst(rows: readonly AlertRow[]): number | undefined {
  const [first] = [...rows].sort((a, b) => b.level - a.level || b.opened_at - a.opened_at);
  return first?.id;
}

type Entry = { row: AlertRow } | { group: AlertGroup };

export interface ListEntries {
  entries: Entry[];
  /** The rows that an open page shows, by id, as they are now. */
  named: ReadonlyMap<number, AlertRow>;
  /** Where the next page goes on. */
  next: string | null;
  complete: boolean;
}

/** So many alerts of a rule stand alone. */
const MOST_ALONE = 10;

/** What stands on the page. What is resolved is in the order of its end, the rest grouped where a rule has many. */
export async function listEntries(call: PageCall, asked: AskedList): Promise<ListEntries> {
  const { store } = call.tenant;
  const filter = triageFilter(asked, call.who.accountId);
  const named = namedRows(call);
  const states = filter.states.filter((state) => state !== "resolved");
  if (states.length === 0) {
    const { rows, next } = await triage(store, filter);
    return { entries: rows.map((row) => ({ row })), named, next, complete: true };
  }
  const isOfRule = partIn(asked.q, "rule") !== null;
  const alone = rulesAlone(named);
  const isGroup = (rule: number, count: number) =>
    !isOfRule && !alone.has(rule) && (count > MOST_ALONE || call.rows.has(`group-${rule}`));
  const { groups, ...more } = await groupAlerts(store, { ...filter, states, isGroup });
  const entries = groups.flatMap((group): Entry[] => {
    if (group.isGroup) return [{ group }];
    return group.alerts.map(({ id }) => ({ row: named.get(id) ?? getAlertRow(store, id) }));
  });
  return { entries, named, ...more };
}

/** Rules of which an open page shows single alerts: it keeps what it shows. */
function rulesAlone(named: ListEntries["named"]): ReadonlySet<number> {
  const unresolved = [...named.values()].filter(({ state }) => state !== "resolved");
  return new Set(unresolved.map(({ rule_id }) => rule_id));
}

function namedRows(call: PageCall): ListEntries["named"] {
  const ids = [...call.rows.keys()].flatMap((name) =>
    Number(/^row-(\d{1,15})$/.exec(name)?.[1] ?? []),
  );
  const rows = ids.flatMap((id) => findAlertRow(call.tenant.store, id) ?? []);
  return new Map(rows.map((row) => [row.id, row]));
}

function pages(call: PageCall, asked: AskedList, on: string | null): Markup {
  if (on === null && asked.before === null) return html`<div class="pages"></div>`;
  return html`<nav class="pages" aria-label="Pages">${
    asked.before === null
      ? html`<span></span>`
      : html`<a href="${call.base}${listAddress({ ...asked, before: null })}">First page</a>`
  }${on !== null && html`<a href="${call.base}${on}" rel="next">Next page</a>`}</nav>`;
}

/** Rows that an open page shows and that no longer belong to its list, for it to say what became of them. */
function rowsThatLeft(
  named: ListEntries["named"],
  { tab }: AskedList,
  here: readonly Entry[],
): AlertRow[] {
  const known = new Set(here.map((entry) => ("row" in entry ? entry.row.id : 0)));
  return [...named.values()].filter((row) => !known.has(row.id) && !standsIn(tab, row));
}

const NONE: Readonly<Record<TabName, string>> = {
  open: "Nothing is open.",
  acknowledged: "Nobody has an alert now.",
  resolved: "None was resolved so far.",
  silenced: "No open alert is silenced.",
  mine: "None is yours: none paged you, was given to you or taken by you.",
};

/** What an empty list means, told apart: never any, none that match, all done. */
async function nothingThere(call: PageCall, asked: AskedList): Promise<Markup> {
  const { tenant, who, base } = call;
  const fault = labelFault(readAlertQuery(asked.q).labels);
  if (asked.q !== "" || asked.before !== null)
    return empty(
      asked.q === ""
        ? "There are no more."
        : fault === null
          ? "None match the filter."
          : `The search did not run: the filter ${fault}.`,
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
