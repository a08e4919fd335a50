import { type AlertRow, findAlertRow } from "../../alerts/alert.ts";
import { lookAhead } from "../../alerts/rungs-ahead.ts";
import { triage } from "../../alerts/triage.ts";
import { html, type Markup } from "../../kit/html.ts";
import { naming } from "../alert/shown-alert.ts";
import type { PageCall } from "../screen.ts";
import { levelBadge } from "../ui/level.ts";
import { markedTemplate } from "../ui/message.ts";
import { counted } from "../ui/pieces.ts";
import { type AskedList, listAddress, standsIn, triageFilter } from "./asked.ts";
import { nothingThere } from "./nothing.ts";
import { lastOfAll, nowWords } from "./now-words.ts";
import { listRow, minutesOfAll } from "./row.ts";

/** A page of alerts: rows that stay where they are, also those that left while somebody looked. */
export async function alertList(call: PageCall, asked: AskedList): Promise<Markup> {
  const { store } = call.tenant;
  const { rows, next } = await triage(store, triageFilter(asked, call.who.accountId));
  const left = rowsThatLeft(call, asked, rows);
  if (rows.length === 0 && left.length === 0) return nothingThere(call, asked);
  const about = {
    ...{ nameOf: naming(store), look: lookAhead(store, call.now) },
    last: lastOfAll(store, [...rows, ...left]),
  };
  const minutes = minutesOfAll(call, rows);
  const draw = (row: AlertRow, isGone = false) =>
    listRow(call, {
      ...{ row, isGone, minutes: (isGone ? null : minutes.get(row.id)) ?? [] },
      now: nowWords(call, row, about),
    });
  const items = groups(call, rows).map(([first, ...rest]) =>
    rest.length === 0 ? draw(first) : groupRow(call, [first, ...rest]),
  );
  const on = next === null ? null : listAddress({ ...asked, before: next });
  return html`<p class="new" data-new><button type="button"></button></p>
<ol class="rows" data-list${next !== null && html` data-more`}>${items}${left.map((row) => draw(row, true))}</ol>
${pages(call, asked, on)}`;
}

function pages(call: PageCall, asked: AskedList, on: string | null): Markup {
  if (on === null && asked.before === null) return html``;
  return html`<nav class="pages" aria-label="Pages">${
    asked.before === null
      ? html`<span></span>`
      : html`<a href="${call.base}${listAddress({ ...asked, before: null })}">First page</a>`
  }${on !== null && html`<a href="${call.base}${on}" rel="next">Next page</a>`}</nav>`;
}

/** Rows that an open page shows and that no longer belong to its list, for it to say what became of them. */
function rowsThatLeft(call: PageCall, { tab }: AskedList, here: readonly AlertRow[]): AlertRow[] {
  const known = new Set(here.map(({ id }) => id));
  return call.rows.flatMap((name) => {
    const id = Number(/^row-(\d{1,15})$/.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isInteger(id) || known.has(id)) return [];
    const row = findAlertRow(call.tenant.store, id);
    return row === null || standsIn(tab, row) ? [] : [row];
  });
}

/** So many of one rule on a page are one row. */
const MOST_ALONE = 10;

/** Alerts of a rule that has too many of the page together, the others alone; an open page keeps what it shows. */
function groups(call: PageCall, rows: readonly AlertRow[]): [AlertRow, ...AlertRow[]][] {
  const ofRule = Map.groupBy(rows, ({ rule_id }) => rule_id);
  const isOne = (rule: number) => {
    if ((ofRule.get(rule)?.length ?? 0) <= MOST_ALONE) return false;
    return call.rows.length === 0 || call.rows.includes(`group-${rule}`);
  };
  const seen = new Set<number>();
  return rows.flatMap((row): [AlertRow, ...AlertRow[]][] => {
    if (!isOne(row.rule_id)) return [[row]];
    if (seen.has(row.rule_id)) return [];
    seen.add(row.rule_id);
    const [first = row, ...rest] = ofRule.get(row.rule_id) ?? [];
    return [[first, ...rest]];
  });
}

/** "errors: 34 alerts", which opens in place; its box selects them all. */
function groupRow(call: PageCall, rows: readonly [AlertRow, ...AlertRow[]]): Markup {
  const [{ rule, rule_id, project, level }] = rows;
  const events = rows.reduce((sum, { count }) => sum + count, 0);
  return html`<li class="row row-open" id="group-${rule_id}" data-row>
<label class="pick"><input type="checkbox" form="bulk" name="id" value="${rows.map(({ id }) => id).join(",")}" aria-label="Select all of ${rule}"></label>
<span class="row-head">${levelBadge(level)}</span>
<div class="row-title"><details id="of-${rule_id}"><summary>${rule}: ${counted(rows.length, "alert")}</summary><ul class="group">${rows.map(
    ({ id, template, count }) =>
      html`<li><a class="message" href="${call.base}/a/${id}" dir="auto">${markedTemplate(template)}</a> <span class="soft">#${id} · ${count} ×</span></li>`,
  )}</ul></details></div>
<span class="row-about">${project} · ${rule}</span>
<span class="row-count">${events} ×</span>
</li>
`;
}
