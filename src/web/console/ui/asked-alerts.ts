import type { AlertState } from "../../../core/alerts/alert.ts";
import { LONGEST_QUERY, type TriageFilter } from "../../../core/alerts/query.ts";

/** What the list is asked for, as its address says it: what matters to a colleague, and nothing else. */
export interface AskedList {
  tab: TabName;
  /** As people write it; the filters write into it. */
  q: string;
  /** Where the page goes on. */
  before: string | null;
}

export type TabName = AlertState | "silenced" | "mine";

export const TAB_NAMES: readonly [tab: TabName, name: string][] = [
  ["open", "Open"],
  ["acknowledged", "Taken"],
  ["silenced", "Quiet"],
  ["resolved", "Done"],
  ["mine", "Mine"],
];

/** In a list's address: the alert that stands beside it. In an alert's: what the list beside it is asked for. */
export const CHOSEN = "alert";
export const LIST = "list";

/** `project`, `rule` and `level` beside `q` are written into it. Anything that isn't known is as usual. */
export function askedList(query: URLSearchParams): AskedList {
  const tab = TAB_NAMES.find(([name]) => name === query.get("state"))?.[0] ?? "open";
  let q = (query.get("q") ?? "").trim().slice(0, LONGEST_QUERY);
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) q = withPart(q, name, value);
  }
  return { tab: query.get("mine") === "true" ? "mine" : tab, q, before: query.get("before") };
}

const FILTERS = ["project", "rule", "level"] as const;
export type FilterName = (typeof FILTERS)[number];

const ladderPartOf = (name: FilterName) =>
  new RegExp(`(?:^|\\s)${name}:(?:"([^"]*)"?|(\\S+))`, "gi");

/** What a filter is set to in `q`; null where it isn't. */
export function partIn(q: string, name: FilterName): string | null {
  const [found] = q.matchAll(ladderPartOf(name));
  return found === undefined ? null : (found[1] ?? found[2] ?? null);
}

/** `q` with this filter set, or without it. */
export function withPart(q: string, name: FilterName, value: string | null): string {
  const rest = q.replace(ladderPartOf(name), "").trim();
  if (value === null) return rest;
  const written = /[\s"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
  return `${rest} ${name}:${written}`.trim();
}

/** The address of a list, below the base; what is as usual is left out. */
export function listAddress({ tab, q, before }: AskedList): string {
  const query = new URLSearchParams();
  if (tab === "mine") query.set("mine", "true");
  else if (tab !== "open") query.set("state", tab);
  if (q !== "") query.set("q", q);
  if (before !== null) query.set("before", before);
  const text = query.toString();
  return text === "" ? "/alerts" : `/alerts?${text}`;
}

const STATES: Readonly<Record<TabName, readonly AlertState[]>> = {
  open: ["open"],
  acknowledged: ["acknowledged"],
  resolved: ["resolved"],
  silenced: ["open"],
  mine: ["open", "acknowledged"],
};

/** Whether an alert stands in a tab, as far as its state says. */
export function standsIn(
  tab: TabName,
  { state, silenced_by }: { state: AlertState; silenced_by: string | null },
): boolean {
  return STATES[tab].includes(state) && (tab !== "silenced" || silenced_by !== null);
}

export function triageFilter(
  { tab, q, before }: AskedList,
  accountId: string,
): TriageFilter & { states: readonly AlertState[] } {
  return {
    order: "need",
    states: STATES[tab],
    q,
    limit: PAGE_ROWS,
    ...(tab === "silenced" && { silenced: true }),
    ...(tab === "mine" && { mine: accountId }),
    ...(before !== null && { after: before }),
  };
}

const PAGE_ROWS = 50;
