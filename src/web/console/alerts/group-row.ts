import { type AlertRow, getAlertRow } from "../../../core/alerts/alert.ts";
import { type Apart, apartOf } from "../../../core/alerts/apart.ts";
import { type GroupFacts, groupFacts } from "../../../core/alerts/group-facts.ts";
import type { AlertGroup } from "../../../core/alerts/groups.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { STATE_CLASS } from "../ui/alert-pieces.ts";
import { askedList, listAddress, withPart } from "../ui/asked-alerts.ts";
import { levelBadge, levelWord } from "../ui/level.ts";
import { aboutText, markedTemplate, markedTitle } from "../ui/message.ts";
import { counted } from "../ui/pieces.ts";
import { ago, since } from "../ui/times.ts";

/** Of a group that is opened so many alerts are shown in place; the others are a link away. */
const MOST_OPENED = 10;

/** "errors: 3,400 alerts", which opens in place; its box selects them all. */
export function groupRow(
  call: PageCall,
  group: AlertGroup,
  nameOf: (account: string) => string,
): Markup {
  const { store } = call.tenant;
  const facts = groupFacts(store, group);
  const { first, rule, project, count, titles, states } = facts;
  const look = states.silenced === count ? "silenced" : STATE_CLASS[first.state];
  const newest = group.alerts.reduce((most, { id }) => Math.max(most, id), 0);
  const shown = group.alerts.slice(0, MOST_OPENED).map(({ id }) => getAlertRow(store, id));
  const apart = apartOf(store, shown);
  return html`<li class="row row-${look} row-many" id="group-${first.rule_id}" data-row>
<label class="pick"><input type="checkbox" form="bulk" name="id" value="group-${first.rule_id}-${newest}" data-many="${count}" aria-label="Select all ${count} of ${rule}"></label>
<span class="row-head">${levelBadge(first.level)}</span>
<div class="row-title"><details id="of-${first.rule_id}"><summary>${rule}: ${counted(count, "alert")}</summary><ul class="group">${shown.map((row) => openedRow(call, row, apart.get(row.id)))}</ul>${
    count > shown.length &&
    html`<p><a href="${call.base}${ofRule(call, facts)}">All ${count}</a></p>`
  }</details></div>
<span class="row-about">${project} · ${levelsText(facts)}${titles.map(({ title, count: of }) => html` · <span dir="auto">${markedTemplate(title)}</span> ${of} ×`)}</span>
<span class="row-age">${since(call, facts.since)}</span>
<span class="row-next">${holders(facts, nameOf)}</span>
</li>
`;
}

function openedRow(call: PageCall, row: AlertRow, apart: Apart | undefined): Markup {
  const { id, level, state, count, silenced_by } = row;
  const names = aboutText(row, apart);
  const stands = state === "open" ? (silenced_by === null ? "" : " · silenced") : ` · ${state}`;
  return html`<li>${levelBadge(level)} <a class="message" href="${call.base}/a/${id}" dir="auto">${markedTitle(row)}</a> <span class="soft">${names !== "" && `${names} · `}#${id}${stands} · ${count} × · ${ago(call, row.last_seen)}</span></li>
`;
}

/** The same list, of this rule alone. */
function ofRule({ query }: PageCall, { rule, project }: GroupFacts): string {
  const asked = askedList(query);
  const q = withPart(withPart(asked.q, "project", project), "rule", rule);
  return listAddress({ ...asked, q, before: null });
}

/** "3 critical, 31 error". */
const levelsText = ({ levels }: GroupFacts): string =>
  levels.map(([level, count]) => `${count} ${levelWord(level)}`).join(", ");

/** What isn't plainly open of them, and who has it. */
function holders({ states, accounts }: GroupFacts, nameOf: (account: string) => string): Piece {
  const { acknowledged, silenced } = states;
  const names = accounts.slice(0, 2).map(nameOf).join(", ");
  const more = accounts.length > 2 ? ` and ${accounts.length - 2} more` : "";
  return [
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged${names && ` by ${names}${more}`}`] : []),
    ...(silenced > 0 ? [`${silenced} silenced`] : []),
  ].join(" · ");
}
