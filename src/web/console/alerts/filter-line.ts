import { countAlerts } from "../../../core/alerts/counts.ts";
import { alertFacets } from "../../../core/alerts/facets.ts";
import { withLabel } from "../../../core/alerts/label-query.ts";
import { LONGEST_QUERY, readAlertQuery } from "../../../core/alerts/query.ts";
import { configVersions } from "../../../core/projects/projects.ts";
import { ruleNames } from "../../../core/projects/rules.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import {
  type AskedList,
  type FilterName,
  listAddress,
  partIn,
  TAB_NAMES,
  triageFilter,
  withPart,
} from "../ui/asked-alerts.ts";
import { keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";

const LEVELS = ["critical", "error", "warn", "info", "debug"];
const MOST = 100;
const MOST_LABELS = 6;

/** Open 3 · Taken 1 · Quiet 1 of 3 · Done: what is quiet is open, too, and counted once. What is the reader's own is a filter, by a key of its own. */
export function listTabs(call: PageCall, asked: AskedList): Markup {
  const counts = countAlerts(call.tenant.store, { accountId: call.who.accountId });
  const all = TAB_NAMES.filter(([tab]) => tab !== "mine");
  const here = all.findIndex(([tab]) => tab === asked.tab);
  const to = (tab: AskedList["tab"]) => call.base + listAddress({ ...asked, tab, before: null });
  const step = (by: number, key: string, name: string) => {
    const next = all[here + by];
    return (
      next &&
      html`<a class="hidden-text" href="${to(next[0])}"${keyed(key, name)} tabindex="-1">${name}: ${next[1]}</a>`
    );
  };
  return html`<nav class="segments" aria-label="Alerts by state">${all.map(
    ([tab, name]) =>
      html`<a href="${to(tab)}"${tab === asked.tab && html` aria-current="page"`}>${name}${
        tab !== "resolved" &&
        html` <span class="count">${counts[tab]}${tab === "silenced" && counts.silenced > 0 && ` of ${counts.open}`}</span>`
      }</a>`,
  )}</nav><a class="hidden-text" href="${to("mine")}"${keyed("m", "Mine")} tabindex="-1">Mine</a>${step(-1, "[", "Tab before")}${step(1, "]", "Next tab")}`;
}

/** What the list is narrowed to, so that nobody takes it for all; empty where it is all. */
export function filterSet({ base }: PageCall, asked: AskedList): Markup {
  const isMine = asked.tab === "mine";
  if (asked.q === "" && !isMine) return html``;
  const all = listAddress({ tab: isMine ? "open" : asked.tab, q: "", before: null });
  return html`<p class="filter-set">${icon("filter", "small")}<span>Only ${isMine && html`<b>mine</b>`}${isMine && asked.q !== "" && ", "}${asked.q !== "" && html`<b>${asked.q}</b>`}</span><a href="${base}${all}">Clear</a></p>`;
}

/** The filters behind their icon. */
export async function filterButton(call: PageCall, asked: AskedList): Promise<Markup> {
  return html`<details class="menu filter" id="filters"><summary class="icon-button"${keyed("/", "Filter")} aria-label="Filter">${icon("filter")}</summary><div>${await filterLine(call, asked)}</div></details>`;
}

/** What is looked for: a field that holds all of it, and menus of links that write into it. */
async function filterLine(call: PageCall, asked: AskedList): Promise<Markup> {
  const { store } = call.tenant;
  const projects = configVersions(store).slice(0, MOST);
  return html`<form class="filters" method="get" action="${call.base}/alerts" role="search">${
    asked.tab === "mine"
      ? html`<input type="hidden" name="mine" value="true">`
      : asked.tab !== "open" && html`<input type="hidden" name="state" value="${asked.tab}">`
  }<input type="search" id="q" name="q" value="${asked.q}" maxlength="200" aria-label="Search alerts" placeholder="Words, #130, level:error, label:host=db7" data-first><button class="button second">Search</button>${
    asked.q !== "" &&
    html`<a class="button second" href="${call.base}${listAddress({ ...asked, q: "", before: null })}">Clear</a>`
  }<a class="button second" href="${call.base}${listAddress({ ...asked, tab: asked.tab === "mine" ? "open" : "mine", before: null })}"${asked.tab === "mine" && html` aria-current="true"`}>Mine</a>
${menu(call, asked, { name: "project", label: "Project", values: projects.map(({ project }) => project) })}${menu(
  call,
  asked,
  {
    name: "rule",
    label: "Rule",
    values: ruleNames(store, MOST),
  },
)}${menu(call, asked, { name: "level", label: "Level", values: LEVELS })}${await labelMenus(call, asked)}</form>`;
}

/** A sender's texts, as the adapter of Alertmanager names them: they name nothing. */
const ANNOTATION = "annotation.";

/** Labels by which the list can be narrowed: those that most of its alerts have, and that say something. */
async function labelMenus(call: PageCall, asked: AskedList): Promise<Piece> {
  const { states, q = "", mine, silenced } = triageFilter(asked, call.who.accountId);
  if (asked.tab === "resolved") return false;
  const { facets } = await alertFacets(call.tenant.store, { states, q, mine, silenced });
  const { labels } = readAlertQuery(asked.q);
  const setTo = (name: string) =>
    labels.find((one) => one.name === name && one.op === "=" && !one.isNot)?.text ?? null;
  const telling = facets.filter(
    ({ name, values }) =>
      setTo(name) !== null || (values.length > 1 && !name.startsWith(ANNOTATION)),
  );
  return telling.slice(0, MOST_LABELS).map(({ name, values }, i) => {
    const set = setTo(name);
    const to = (value: string | null) => {
      const narrowed = withLabel(asked.q, name, value);
      if (narrowed.length > LONGEST_QUERY) return null;
      return call.base + listAddress({ ...asked, q: narrowed, before: null });
    };
    const one = ({ value, count }: { value: string; count: number }) => {
      const href = to(value);
      return (
        href !== null &&
        html`<li><a href="${href}"${set === value && html` aria-current="true"`}>${value === "" ? "(empty)" : value} <span class="soft">${count}</span></a></li>`
      );
    };
    return html`<details class="menu" id="filter-label-${i}"><summary class="button second">${name}${set !== null && `: ${set}`}${icon("down", "small")}</summary><ul><li><a href="${to(null)}"${set === null && html` aria-current="true"`}>All</a></li>${values.map(one)}</ul></details>`;
  });
}

function menu(
  call: PageCall,
  asked: AskedList,
  { name, label, values }: { name: FilterName; label: string; values: readonly string[] },
): Markup {
  const set = partIn(asked.q, name);
  const to = (value: string | null) =>
    call.base + listAddress({ ...asked, q: withPart(asked.q, name, value), before: null });
  const isSet = (value: string) => set?.toLowerCase() === value.toLowerCase();
  return html`<details class="menu" id="filter-${name}"><summary class="button second">${label}${set !== null && `: ${set}`}${icon("down", "small")}</summary><ul><li><a href="${to(null)}"${set === null && html` aria-current="true"`}>All</a></li>${values.map(
    (value) =>
      html`<li><a href="${to(value)}"${isSet(value) && html` aria-current="true"`}>${value}</a></li>`,
  )}</ul></details>`;
}
