import { asksFor } from "../../../core/oncall/ask-answers.ts";
import { askWrite, makeAsk } from "../../../core/oncall/asks.ts";
import { COVER, coverCapability } from "../../../core/oncall/cover-capability.ts";
import { followed, holderOfStretch } from "../../../core/oncall/holder.ts";
import { peopleOfLayers } from "../../../core/oncall/schedule.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Form, PageCall } from "../screen.ts";
import { blocksOf } from "../ui/calendar-rows.ts";
import { fault, field, select, tick } from "../ui/form.ts";
import { everybody } from "../ui/people-names.ts";
import {
  pageWith,
  previewStored,
  type ShownSchedule,
  scheduleOf,
  schedulePage,
  stretchWords,
} from "../ui/schedule.ts";
import { spanOf, stretchAsked } from "./cover.ts";

/** Asks others to take a shift; nothing where none was asked about. */
export function askForm(call: PageCall, shown: ShownSchedule): Markup {
  const { base, tenant } = call;
  const { path, stored, rows, keep } = shown;
  const stretch = stretchAsked(call.query.get("ask"));
  if (stretch === null) return html``;
  const whose = rows[0]?.blocks.find(
    ({ starts_at, ends_at }) => starts_at <= stretch.starts_at && stretch.starts_at < ends_at,
  )?.account_id;
  const turns = new Set(peopleOfLayers(stored.layers));
  const people = everybody(tenant.store).filter(({ id }) => id !== whose);
  const action = `${path}/ask`;
  return html`<div class="card"><h2>Ask for cover</h2><p>${stretchWords(stretch, stored.timezone)}. The first who says yes has it.</p><form class="form" method="post" action="${base}${action}"><input type="hidden" name="keep" value="${keep}"><input type="hidden" name="mine" value="${stretch.starts_at}-${stretch.ends_at}">
<fieldset><legend>Whom</legend>${people.map(({ id, name }) =>
    tick(call, action, { name: "of", value: id, words: name, usual: turns.has(id) }),
  )}${fault(call, action, "of") || fault(call, action, "from")}</fieldset>
${field(call, action, { name: "note", label: "Why", prose: true, autocomplete: "off" })}
<p class="form-foot"><button class="button">Ask them</button><a href="${base}${pageWith(shown, "")}">Not now</a></p></form></div>`;
}

export const askAction: Form = {
  verb: "createAsk",
  act({ tenant, who, params }, form) {
    const { stored } = scheduleOf(tenant.store, params);
    const [mine, theirs] = ["mine", "theirs"].map((name) => stretchAsked(form.get(name)));
    // In a swap who has the other shift is asked.
    const holder = theirs && holderOfStretch(followed(tenant.store, stored), spanOf(theirs));
    if (theirs && !holder)
      throw new ServiceError("invalid_ask", "That shift is not one person's alone: choose again.");
    const body = {
      schedule: `${stored.project}/${stored.name}`,
      ...spanOf(mine ?? { starts_at: 0, ends_at: 0 }),
      of: holder ? [holder] : form.getAll("of"),
      ...(theirs && { in_return: spanOf(theirs) }),
      note: form.get("note") ?? "",
    };
    const input = check(askWrite, body, "body");
    tenant.store.write((tx) => makeAsk(tx, who.accountId, input));
    return {
      said: `Asked. The shift stays yours until ${theirs ? "they say yes" : "somebody takes it"}.`,
      to: schedulePage(stored),
    };
  },
};

/** What the reader is asked to take. */
export function askedOfMe({ tenant, who, base }: PageCall): Markup {
  const all = asksFor(tenant.store, who.accountId);
  if (all.length === 0) return html``;
  return html`<div class="notice"><h2>You are asked to take a shift</h2><ul class="who">${all.map(
    (ask) => {
      const right = { tenantId: tenant.id, askId: ask.row.id, accountId: who.accountId };
      const link = `${COVER}/${coverCapability(tenant.sealer, right)}`;
      return html`<li class="who-item"><div><p><strong>${ask.schedule}</strong>: ${ask.when}</p><p class="soft">${ask.whose}${ask.inReturn !== null && html`, who takes ${ask.inReturn} in return`}${ask.row.note !== "" && html`: ${ask.row.note}`}</p></div><div class="buttons"><a class="button second" href="${base}${link}" aria-label="Answer ${ask.whose}, ${ask.schedule}, ${ask.when}">Answer…</a></div></li>
`;
    },
  )}</ul></div>`;
}

/** How far ahead a shift is looked for, seconds. */
const AHEAD = 8 * 7 * 86_400;
const MOST = 100;

/** Gives one's own shift for another's; nothing where none was asked about. */
export async function swapForm(call: PageCall, shown: ShownSchedule): Promise<Markup> {
  const { base, now, who } = call;
  const { path, stored, overrides, names, keep } = shown;
  const mine = stretchAsked(call.query.get("swap"));
  if (mine === null) return html``;
  const range = { from: now, until: Math.max(mine.ends_at, now) + AHEAD };
  const others = blocksOf(await previewStored(call, { stored, overrides }, range)).filter(
    ({ account_id, starts_at }) =>
      account_id !== null && account_id !== who.accountId && starts_at !== mine.starts_at,
  );
  const action = `${path}/swap`;
  // Who has begun can ask nobody any more.
  const isAhead = mine.starts_at > now;
  const choices = others
    .filter(({ starts_at }) => !isAhead || starts_at > now)
    .slice(0, MOST)
    .map((block) => ({
      value: `${block.starts_at}-${block.ends_at}`,
      name: `${names(block.account_id)}: ${stretchWords(block, stored.timezone)}`,
    }));
  const cover =
    isAhead &&
    html`<a href="${base}${pageWith(shown, `ask=${mine.starts_at}-${mine.ends_at}`)}#ask">Ask for cover…</a> `;
  const away = html`${cover}<a href="${base}${pageWith(shown, "")}">Not now</a>`;
  if (choices.length === 0)
    return html`<div class="notice"><h2>Swap</h2><p>Nobody else has a shift in the next eight weeks.</p><p>${away}</p></div>`;
  const hint = isAhead
    ? "Both shifts change when they say yes. Until then nothing does."
    : "It makes two overrides, or none.";
  const buttons = isAhead
    ? html`<button class="button" formaction="${base}${path}/ask">Ask them</button><button class="second">Swap at once</button>`
    : html`<button class="button">Swap</button>`;
  return html`<div class="card"><h2>Swap</h2><p>You give ${stretchWords(mine, stored.timezone)}.</p><form class="form" method="post" action="${base}${action}"><input type="hidden" name="keep" value="${keep}"><input type="hidden" name="mine" value="${mine.starts_at}-${mine.ends_at}">${select(call, action, { name: "theirs", label: "You take", choices, hint })}<p class="form-foot">${buttons}${away}</p></form></div>`;
}
