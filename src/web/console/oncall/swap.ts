import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { blocksOf } from "../ui/calendar-rows.ts";
import { select } from "../ui/form.ts";
import { pageWith, previewStored, type ShownSchedule, stretchWords } from "../ui/schedule.ts";
import { stretchAsked } from "./cover.ts";

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
