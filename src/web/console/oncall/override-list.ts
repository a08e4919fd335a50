import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { type ShownSchedule, stretchWords } from "../ui/schedule.ts";
import { yours } from "./now.ts";

const MOST_PAST = 20;

/** Those that stand and come first, then what is over. */
export function overrideList(call: PageCall, shown: ShownSchedule): Markup {
  const byStart = [...shown.overrides].sort((a, b) => a.starts_at - b.starts_at);
  const ahead = byStart.filter(({ ends_at }) => ends_at > call.now);
  const past = byStart.filter(({ ends_at }) => ends_at <= call.now).reverse();
  const item = (override: (typeof byStart)[number]) => {
    const { id, account_id, created_by } = override;
    const words = `${shown.names(account_id)}, ${stretchWords(override, shown.stored.timezone)}`;
    return html`<li class="who-item" id="override-${id}"><div><p><strong>${shown.names(account_id)}</strong> ${stretchWords(override, shown.stored.timezone)}</p><p class="soft small">by ${shown.names(created_by)}</p>${yours(call, shown.stored.timezone, override)}</div>${button(
      call,
      {
        action: `${shown.path}/overrides/${id}/remove`,
        name: "Remove",
        kind: "plain",
        label: `Remove ${words}`,
        fields: { keep: shown.keep },
      },
    )}</li>
`;
  };
  return html`<h2>Covers</h2>${ahead.length === 0 ? html`<p class="soft">No cover is planned.</p>` : html`<ul class="who">${ahead.map(item)}</ul>`}${
    past.length > 0 &&
    html`<details id="past-overrides"><summary>${past.length} past</summary><ul class="who">${past.slice(0, MOST_PAST).map(item)}</ul></details>`
  }`;
}
