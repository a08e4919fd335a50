import type { GroupFacts } from "../../../core/alerts/group-facts.ts";
import type { Labels } from "../../../core/alerts/label-book.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { STATE_CLASS } from "./alert-pieces.ts";
import { askedList, listAddress, withPart } from "./asked-alerts.ts";
import { squareChip } from "./faces.ts";
import { button } from "./form.ts";
import { levelBadge, levelKind, levelWord } from "./level.ts";
import { identifiersText, markedTitle } from "./message.ts";
import { counted } from "./pieces.ts";
import { stayingRow } from "./staying-row.ts";
import { since } from "./times.ts";

/** Of the labels that all alerts of a group have so many are shown. */
const MOST_SHARED = 3;

/**
 * "errors: 3,400 alerts", with its largest kinds; it leads to a list of its own, and its box selects them all. `shared`: the labels
 * that all of them have. Pure.
 */
export function groupRow(
  call: Pick<PageCall, "base" | "now" | "look" | "query" | "rows">,
  facts: GroupFacts,
  of: { shared: Labels | undefined; nameOf: (account: string) => string },
): Markup {
  const { shared = {}, nameOf } = of;
  const { first, newest, rule, project, count, kinds, states, levels } = facts;
  const look = states.silenced === count ? "silenced" : STATE_CLASS[first.state];
  const [[level, most] = [first.level, count], ...others] = levels;
  // As many as the button does: what is silenced stays so.
  const rings = states.open - states.silenced;
  const id = `group-${first.rule_id}`;
  const to = call.base + ofRule(call, facts);
  const all = identifiersText(shared, MOST_SHARED);
  const card = { id, look: `row-${look} row-many of-${levelKind(level)}` };
  return stayingRow(
    call,
    card,
    html`<label class="pick"><input type="checkbox" form="bulk" name="id" value="${id}-${newest}" data-many="${count}" aria-label="Select all ${count} of ${rule}"></label>
<div class="row-head">${levelBadge(level, most)}<span class="row-place">${others.map(([each, n]) => `${n} ${levelWord(each)}`).join(", ")}</span><span class="row-age">${since(call, facts.since)}</span></div>
<h2 class="row-title"><a href="${to}">${rule}: ${counted(count, "alert")}</a></h2>
<p class="row-about">${project}${all !== "" && ` · ${all}`}</p>
${stripe(levels)}
<ul class="kinds">${kinds.map((kind) => html`<li><span dir="auto">${markedTitle(kind.row)}</span>${kind.count > 1 && html` <b>and ${kind.count - 1} like it</b>`}</li>`)}</ul>
<div class="row-foot">${squareChip("bell-ring")}<p class="row-next">${holders(facts, nameOf)}</p><span class="row-actions"><a class="button second" href="${to}" aria-label="Open ${rule}">Open</a>${
      look === "open" &&
      button(call, {
        action: "/alerts/ack",
        name: `Acknowledge all ${rings}`,
        key: "a",
        kind: "second",
        label: `Acknowledge all ${rings} of ${rule}`,
        fields: { id: `${id}-${newest}`, list: call.query.toString() },
      })
    }</span></div>`,
  );
}

/** The share of each level, the highest first. */
function stripe(levels: GroupFacts["levels"]): Markup {
  const all = levels.reduce((sum, [, n]) => sum + n, 0);
  const bars: Markup[] = [];
  let at = 0;
  for (const [level, n] of levels) {
    const width = Math.round((n / all) * 1000) / 10;
    bars.push(html`<rect class="of-${levelKind(level)}" x="${at}%" width="${width}%" height="8"/>`);
    at += width;
  }
  return html`<svg class="stripe" height="8" aria-hidden="true">${bars}</svg>`;
}

/** The same list, of this rule alone. */
function ofRule({ query }: Pick<PageCall, "query">, { rule, project }: GroupFacts): string {
  const asked = askedList(query);
  const q = withPart(withPart(asked.q, "project", project), "rule", rule);
  return listAddress({ ...asked, q, before: null });
}

/** Who has how many of them, and how many nobody has. */
function holders({ states, accounts }: GroupFacts, nameOf: (account: string) => string): Markup {
  const { open, acknowledged, silenced } = states;
  const names = accounts.slice(0, 2).map(nameOf).join(", ");
  const more = accounts.length > 2 ? ` and ${accounts.length - 2} more` : "";
  const has = accounts.length > 1 ? "have" : "has";
  const first =
    acknowledged === 0
      ? "Nobody has any"
      : `${names === "" ? "Somebody" : names + more} ${has} ${acknowledged}`;
  return html`<b>${first}</b> <span class="soft">${open - silenced} open${silenced > 0 && `, ${silenced} quiet`}</span>`;
}
