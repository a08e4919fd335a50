import { silencesSince } from "../../../core/quiet/rows.ts";
import type { SilenceAnswer } from "../../../core/quiet/silence.ts";
import { toSilence } from "../../../core/quiet/silences.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen } from "../screen.ts";
import { counted, empty } from "../ui/pieces.ts";
import { silenceCard } from "../ui/silence-card.ts";
import { newButtons } from "./form.ts";
import { makeAgain } from "./form-actions.ts";

const PAST_SECONDS = 30 * 86_400;
const MOST_READ = 2000;
/** More that are over are not drawn. */
const MOST_PAST = 100;

/** What is kept quiet on purpose: now, later, and in the past month. */
export const silencesScreen: Screen = {
  path: "/silences",
  view: (call) => ({
    title: "Silences",
    nav: "silences",
    sections: {
      head: () => newButtons(call),
      silences: { watches: ["silences", "alerts"], draw: () => lists(call) },
    },
  }),
  forms: { again: makeAgain },
};

function lists(call: PageCall): Markup {
  const { store } = call.tenant;
  const since = call.now - PAST_SECONDS;
  const all = silencesSince(store, { since, most: MOST_READ }).map((row) =>
    toSilence(store, row, call.now),
  );
  const of = (state: SilenceAnswer["state"]) => all.filter((one) => one.state === state);
  const active = of("active").sort((a, b) => (a.until ?? 0) - (b.until ?? 0));
  const planned = of("planned").sort((a, b) => (a.next_at ?? 0) - (b.next_at ?? 0));
  const past = of("over").sort((a, b) => overAt(b) - overAt(a));
  if (all.length === 0)
    return empty(
      "Nothing is silenced.",
      html`<p class="soft">A silence keeps alerts from ringing for a while and says why: a deploy, a move, a provider that is down. Alerts that are still open at its end ring then.</p>`,
    );
  return html`<h2>Active</h2>${
    active.length === 0 ? html`<p class="soft">Nothing is silenced now.</p>` : cards(call, active)
  }<h2>Planned</h2>${
    planned.length === 0 ? html`<p class="soft">None is planned.</p>` : cards(call, planned)
  }${
    past.length > 0 &&
    html`<details id="past"><summary>${counted(past.length, "silence")} of the past 30 days</summary>${cards(call, past.slice(0, MOST_PAST))}${past.length > MOST_PAST && html`<p class="soft">The latest ${MOST_PAST}.</p>`}</details>`
  }`;
}

const overAt = ({ repeat_until, ends_at }: SilenceAnswer): number => repeat_until ?? ends_at;

const cards = (call: PageCall, all: readonly SilenceAnswer[]): Markup =>
  html`<ul class="cards wide bare" data-list>${all.map((one) => silenceCard(call, one))}</ul>`;
