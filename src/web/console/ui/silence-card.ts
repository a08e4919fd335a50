import { heldBySilence } from "../../../core/alerts/silencing.ts";
import { findSilence } from "../../../core/quiet/rows.ts";
import type { SilenceAnswer } from "../../../core/quiet/silence.ts";
import { toSilence } from "../../../core/quiet/silences.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { button } from "./form.ts";
import { peopleNames } from "./people-names.ts";
import { counted } from "./pieces.ts";
import { repeatWords, silenceName, takesWords } from "./silence-words.ts";
import { clockTime, until } from "./times.ts";

/** Alerts that a card names; of the others it says how many. */
const MOST_NAMED = 8;

/** One silence as a row of a list: what it takes, how long it lasts, what it holds back, what can be done with it. */
export function silenceCard(call: PageCall, silence: SilenceAnswer): Markup {
  const { id } = silence;
  return html`<li class="card" id="silence-${id}" data-row><div class="card-head"><h3><a href="${call.base}/silences/${id}">${silenceName(silence)}</a></h3> ${stateBadge(silence)}</div>
${silenceFacts(call, silence)}${silenceActions(call, silence)}</li>
`;
}

/** What is known of a silence, in sentences. */
export function silenceFacts(call: PageCall, silence: SilenceAnswer): Markup {
  const names = peopleNames(call.tenant.store);
  const again = repeatWords(silence);
  return html`${timeWords(call, silence)}
<p>${takesWords(call, silence)}</p>
${again !== "" && html`<p class="soft">${again}</p>`}<p class="soft">“${silence.reason}” · by ${names(silence.created_by)}${
    silence.managed && html` · from the configuration file`
  }</p>
${silence.state === "active" && heldWords(call, silence)}`;
}

const STATE = { active: "silenced", planned: "ack", over: "resolved" } as const;

export function stateBadge({ kind, state }: Pick<SilenceAnswer, "kind" | "state">): Markup {
  const word = kind === "maintenance" ? "Maintenance" : "Silence";
  return html`<span class="state state-${STATE[state]}">${word} · ${state}</span>`;
}

function timeWords(call: PageCall, silence: SilenceAnswer): Markup {
  const { until: end, next_at, ends_at, repeat_until, starts_at } = silence;
  if (end !== null) {
    return html`<p>${timeLeft({ from: windowStart(call.now, silence), until: end, now: call.now })} ${until(call, end)} left, until ${clockTime(call, end)}${
      silence.tell_author &&
      html` <span class="soft">(to be ended by hand; its author is notified)</span>`
    }</p>`;
  }
  if (next_at !== null)
    return html`<p>Begins ${clockTime(call, next_at)}, in ${until(call, next_at)}</p>`;
  return html`<p class="soft">${clockTime(call, starts_at)} – ${clockTime(call, repeat_until ?? ends_at)}</p>`;
}

/** Where the window that holds now began; of one that repeats it is as long as the first. */
function windowStart(now: number, { repeat, starts_at, ends_at, until: end }: SilenceAnswer) {
  if (repeat === "none" || end === null) return starts_at;
  return Math.min(now, end - (ends_at - starts_at));
}

const WIDTH = 120;

/** What is left of a window as a bar; the words beside it say the same. */
function timeLeft(of: { from: number; until: number; now: number }): Markup {
  const share = (of.until - of.now) / Math.max(1, of.until - of.from);
  const left = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
  return html`<svg class="plot meter" width="${WIDTH}" height="8" viewBox="0 0 ${WIDTH} 8" aria-hidden="true"><rect class="plot-rest" width="${WIDTH}" height="8" rx="2"/><rect class="plot-done" width="${left}" height="8" rx="2"/></svg>`;
}

function heldWords(call: PageCall, { id, holds }: SilenceAnswer): Markup {
  if (holds === 0) return html`<p class="soft">Holds nothing back now.</p>`;
  const named = heldBySilence(call.tenant.store, id, MOST_NAMED);
  const more = holds - named.length;
  return html`<p>Holds back ${counted(holds, "open alert")}: ${alertLinks(call, named)}${more > 0 && ` and ${more} more`}</p>`;
}

/** "#130, #127". */
function alertLinks({ base }: PageCall, ids: readonly (number | string)[]): Piece {
  return ids.map((id, i) => html`${i > 0 && ", "}<a href="${base}/a/${id}">#${id}</a>`);
}

/** Ends it, or lets it last; nothing of one that is over. */
export function silenceActions(call: PageCall, silence: SilenceAnswer): Piece {
  const { id, state, repeat } = silence;
  const name = silenceName(silence);
  if (state === "over")
    return html`<p><a href="${call.base}/silences/new?again=${id}" aria-label="Again: ${name}">Again …</a></p>`;
  const isOnce = repeat === "none";
  const end = state === "planned" ? "Delete" : isOnce ? "End now" : "End for good";
  return html`<div class="buttons">${button(call, {
    action: `/silences/${id}/end`,
    name: end,
    kind: "second",
    key: "e",
    label: `${end}: ${name}`,
  })}${
    isOnce &&
    state === "active" &&
    button(call, {
      action: `/silences/${id}/longer`,
      name: "+1 h",
      kind: "second",
      key: "+",
      label: `+1 h: ${name}`,
    })
  }</div>`;
}

/** A silence on the page of an alert that it keeps quiet: all of it, and how it is ended. Nothing of one that is gone. */
export function silenceNotice(call: PageCall, id: string): Piece {
  const row = findSilence(call.tenant.store, id);
  if (row === null) return false;
  const silence = toSilence(call.tenant.store, row, call.now);
  return html`${silenceFacts(call, silence)}${silenceActions(call, silence)}<p><a href="${call.base}/silences/${id}">The silence</a></p>`;
}
