import type { AlertRow, AlertState } from "../../../core/alerts/alert.ts";
import { doerOf } from "../../../core/alerts/holder.ts";
import { type LookAhead, nextRungs } from "../../../core/alerts/rungs-ahead.ts";
import { latestEntries, type TimelineEntry } from "../../../core/alerts/timeline.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { PageCall } from "../screen.ts";
import { ago, clockTime, until } from "../ui/times.ts";

/** What of an alert's history says how it stands now. */
const TELLING: Readonly<Record<AlertState, readonly string[]>> = {
  open: ["escalated", "fallback", "assigned", "reached_nobody", "unreachable"],
  acknowledged: ["acknowledged"],
  resolved: ["resolved"],
};

export interface NowAbout {
  nameOf(account: string): string;
  look: LookAhead;
  /** By alert: the latest of its history that says how it stands. */
  last: ReadonlyMap<number, TimelineEntry>;
}

/** That of all rows of a page at once. */
export function lastOfAll(
  reader: Reader,
  rows: readonly Pick<AlertRow, "id" | "state">[],
): ReadonlyMap<number, TimelineEntry> {
  const byState = Map.groupBy(rows, ({ state }) => state);
  return new Map(
    [...byState].flatMap(([state, of]) => {
      const ids = of.map(({ id }) => id);
      return [...latestEntries(reader, ids, TELLING[state])];
    }),
  );
}

/** What the ladder does now, or who has it: "Ann paged 2 min ago, Bob in 3:12". */
export function nowWords(call: PageCall, row: AlertRow, about: NowAbout): Markup {
  const last = about.last.get(row.id);
  const doer = () => (last === undefined ? null : doerOf(last, about.nameOf));
  if (row.state === "acknowledged") {
    const by = row.acked_by === null ? doer() : about.nameOf(row.acked_by);
    return html`${by ?? "Somebody"} has it${row.wakes_at !== null && html` until ${clockTime(call, row.wakes_at)}`}`;
  }
  if (row.state === "resolved") {
    const by = doer();
    return html`Resolved ${by === null ? "by itself" : `by ${by}`}${
      row.resolved_at !== null && html` · ${ago(call, row.resolved_at)}`
    }`;
  }
  if (row.silenced_by !== null)
    return html`Silenced${row.held_until !== null && html` until ${clockTime(call, row.held_until)}`}`;
  const parts = [before(call, row, about), ahead(call, row, about)].filter((part) => part !== null);
  if (parts.length > 0) return html`${parts.map((part, i) => html`${i > 0 && ", "}${part}`)}`;
  const rule = about.look.rule(row.rule_id);
  return html`<span class="warn">${
    rule === null
      ? "its rule was deleted"
      : rule.escalations.length === 0
        ? "no ladder: nobody is paged"
        : "nothing more will happen"
  }</span>`;
}

/** Whom it paged last, or that it reached nobody. */
function before(call: PageCall, { id }: AlertRow, { nameOf, last: all }: NowAbout): Markup | null {
  const last = all.get(id);
  if (last === undefined) return null;
  const accounts = (last.detail["accounts"] as string[] | undefined) ?? [];
  if (last.kind === "reached_nobody" || accounts.length === 0)
    return html`<strong class="wrong">nobody on call!</strong>`;
  const names = shortly(accounts, nameOf);
  if (last.kind === "unreachable")
    return html`<strong class="wrong">nothing reaches ${names}!</strong>`;
  return html`${names} paged ${ago(call, last.at)}`;
}

/** Who is next and when. */
function ahead(call: PageCall, row: AlertRow, { nameOf, look }: NowAbout): Markup | null {
  const rungs = nextRungs(call.tenant.store, row, { now: call.now, look });
  const [next] = rungs;
  if (next === undefined) return null;
  const accounts = [...new Set(rungs.flatMap((rung) => rung.accounts))];
  if (accounts.length === 0)
    return html`<strong class="wrong">nobody in ${until(call, next.at)}!</strong>`;
  const again = rungs.every(({ why }) => why === "renotify") && " again";
  return html`${shortly(accounts, nameOf)}${again} in ${until(call, next.at)}`;
}

/** Ann, Bob and 3 more. */
function shortly(accounts: readonly string[], nameOf: (account: string) => string): string {
  const names = accounts.slice(0, 2).map(nameOf).join(", ");
  return accounts.length > 2 ? `${names} and ${accounts.length - 2} more` : names;
}
