import { countAlerts } from "../../../core/alerts/counts.ts";
import { configVersions } from "../../../core/projects/projects.ts";
import { ruleNames } from "../../../core/projects/rules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import {
  type AskedList,
  type FilterName,
  listAddress,
  partIn,
  TAB_NAMES,
  withPart,
} from "../ui/asked-alerts.ts";
import { keyed } from "../ui/form.ts";
import { tabs } from "../ui/pieces.ts";

const LEVELS = ["critical", "error", "warn", "info", "debug"];
const MOST = 100;

/** Open 3 · Acknowledged 5 · Resolved · Silenced 1 · Mine 2. */
export function listTabs(call: PageCall, asked: AskedList): Markup {
  const counts = countAlerts(call.tenant.store, { accountId: call.who.accountId });
  const here = TAB_NAMES.findIndex(([tab]) => tab === asked.tab);
  const to = ([tab]: (typeof TAB_NAMES)[number]) =>
    call.base + listAddress({ ...asked, tab, before: null });
  const step = (by: number, key: string, name: string) => {
    const next = TAB_NAMES[here + by];
    return (
      next &&
      html`<a class="hidden-text" href="${to(next)}"${keyed(key, name)} tabindex="-1">${name}: ${next[1]}</a>`
    );
  };
  const mine = call.base + listAddress({ ...asked, tab: "mine", before: null });
  return html`${tabs(
    "Alerts by state",
    TAB_NAMES.map(([tab, name]) => ({
      name,
      href: tab === "mine" ? mine : to([tab, name]),
      here: tab === asked.tab,
      ...(tab !== "resolved" && { count: counts[tab] }),
      ...(tab === "mine" && { key: "m" }),
    })),
  )}${step(-1, "[", "Tab before")}${step(1, "]", "Next tab")}`;
}

/** What is looked for: a field that holds all of it, and menus of links that write into it. */
export function filterLine(call: PageCall, asked: AskedList): Markup {
  const { store } = call.tenant;
  const projects = configVersions(store).slice(0, MOST);
  return html`<form class="filters" method="get" action="${call.base}/alerts" role="search">${
    asked.tab === "mine"
      ? html`<input type="hidden" name="mine" value="true">`
      : asked.tab !== "open" && html`<input type="hidden" name="state" value="${asked.tab}">`
  }<input type="search" id="q" name="q" value="${asked.q}" maxlength="200" aria-label="Search alerts" placeholder="Words, #130, level:error, key:provider=acme"${keyed("/", "Search")}><button class="button second">Search</button>${
    asked.q !== "" &&
    html`<a href="${call.base}${listAddress({ ...asked, q: "", before: null })}">Clear</a>`
  }
${menu(call, asked, { name: "project", label: "Project", values: projects.map(({ project }) => project) })}${menu(
  call,
  asked,
  {
    name: "rule",
    label: "Rule",
    values: ruleNames(store, MOST),
  },
)}${menu(call, asked, { name: "level", label: "Level", values: LEVELS })}</form>`;
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
  return html`<details class="menu" id="filter-${name}"><summary class="button second">${label}${set !== null && `: ${set}`} ▾</summary><ul><li><a href="${to(null)}"${set === null && html` aria-current="true"`}>All</a></li>${values.map(
    (value) =>
      html`<li><a href="${to(value)}"${isSet(value) && html` aria-current="true"`}>${value}</a></li>`,
  )}</ul></details>`;
}
