import { type SilenceAnswer, silenceWrite } from "../../../core/quiet/silence.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { field } from "../ui/form.ts";
import { knownField, localText } from "../ui/local-time.ts";
import { silenceActions, silenceFacts, stateBadge } from "../ui/silence-card.ts";
import { silenceName } from "../ui/silence-words.ts";
import { wouldWords } from "../ui/silence-would.ts";
import { silenceForms, silenceHere } from "./form-actions.ts";

/** One silence: what it takes and holds back, and when it ends. */
export const silenceScreen: Screen = {
  path: "/silences/{silence}",
  view(call) {
    const silence = silenceHere(call);
    const watches = ["silences", "alerts"];
    return {
      title: silenceName(silence),
      heading: html`<a href="${call.base}/silences" data-key="Escape" title="All silences (Esc)">Silences</a> › ${silenceName(silence)}`,
      nav: "silences",
      sections: {
        facts: {
          watches,
          draw: () =>
            html`<p>${stateBadge(silence)}</p>${silenceFacts(call, silence)}${silenceActions(call, silence)}${changesLink(call, "silence", silence.id)}`,
        },
        would: { watches, draw: () => would(call, silence) },
        change: () => changeForm(call, silence),
      },
    };
  },
  forms: silenceForms,
};

/** Of one that isn't over: also one that matches nothing is seen by this. */
async function would(call: PageCall, silence: SilenceAnswer): Promise<Markup> {
  const { id, state, until, next_at, holds, managed, created_by, created_at, ...write } = silence;
  if (state === "over") return html``;
  return html`<h2>What it silences</h2>${await wouldWords(call, () => silenceWrite.parse(write))}`;
}

function changeForm(call: PageCall, silence: SilenceAnswer): Markup {
  if (silence.state === "over") return html``;
  if (silence.managed)
    return html`<p class="soft">The project’s configuration file says what it is: change it there. One that is ended here is made again when the file is applied.</p>`;
  const action = `/silences/${silence.id}`;
  const isOnce = silence.repeat === "none";
  const name = isOnce ? "ends_at" : "repeat_until";
  const at = (isOnce ? silence.ends_at : silence.repeat_until) ?? silence.ends_at;
  const zone = isOnce ? call.look.zone : silence.timezone;
  const fields = new URLSearchParams({
    [knownField(name)]: String(at),
    [name]: localText(zone, at),
  });
  return html`<h2>Change</h2><form class="form" method="post" action="${call.base}${action}">
${field({ ...call, fields }, action, { name, label: isOnce ? "Until" : "For the last time before", type: "datetime-local", hint: `On the clocks of ${zone}.` })}
${field(call, action, { name: "reason", label: "Why", prose: true, value: silence.reason, required: true, autocomplete: "off", more: html`maxlength="1000"` })}
<p class="form-foot"><button class="button">Save</button></p></form>`;
}
