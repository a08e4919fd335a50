import { makeSilence } from "../../../core/alerts/silencing.ts";
import { toSilence } from "../../../core/quiet/silences.ts";
import { html } from "../../../ground/kit/html.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { silenceName } from "../ui/silence-words.ts";
import { wouldWords } from "../ui/silence-would.ts";
import { timeOnClock } from "../ui/times.ts";
import { firstSilence } from "./drafts.ts";
import { writeOfFields } from "./fields.ts";
import { NEW_SILENCE, silenceForm } from "./form.ts";

/** A silence, or a maintenance, that isn't there yet: what it would do is said before it is made. */
export const newSilenceScreen: Screen = {
  path: NEW_SILENCE,
  view(call) {
    const fields = fieldsNow(call);
    const isPlanned = fields.get("kind") === "maintenance";
    return {
      title: isPlanned ? "Plan a maintenance" : "New silence",
      nav: "silences",
      sections: {
        form: { watches: [], draw: () => silenceForm(call, fields) },
        would: { watches: [], draw: () => wouldSection(call, fields) },
      },
      body: (
        put,
      ) => html`<p class="soft">Alerts that match still open and count events, but nobody is notified until the silence ends. Those that are open then ring. Critical alerts still ring, unless you include them below.</p>
<div class="rule-columns">${put("form")}${put("would")}</div>`,
    };
  },
  forms: {
    "": { verb: "createSilence", act: create },
    try: {
      verb: "previewSilence",
      reads: true,
      act: (_call, form) => ({ said: "", shown: { draft: form.toString() } }),
    } satisfies Form,
  },
};

function fieldsNow(call: PageCall): URLSearchParams {
  const { returned, shown } = call;
  if (returned?.action === NEW_SILENCE) return returned.form;
  if (shown["draft"] !== undefined) return new URLSearchParams(shown["draft"]);
  return firstSilence(call);
}

const NARROWING = [
  "match/rule",
  "match/identifiers",
  "labels",
  "match/sources",
  "match/template_id",
];

async function wouldSection(call: PageCall, fields: URLSearchParams) {
  const says = [...NARROWING, "pairs", "said", "names", "conditions", "all"];
  if (!says.some((name) => (fields.get(name) ?? "") !== ""))
    return html`<div class="card"><h2>What it would do</h2><p class="soft">Say which alerts: what it takes now, and what it would have kept back, is shown here.</p></div>`;
  const named = new URLSearchParams(fields);
  // It can be seen before it has a reason.
  if ((fields.get("reason") ?? "").trim() === "") named.set("reason", "?");
  return html`<div class="card"><h2>What it would do</h2>${await wouldWords(call, () => writeOfFields(call, named))}</div>`;
}

function create(call: PageCall, form: URLSearchParams) {
  const write = writeOfFields(call, form);
  const row = call.tenant.store.write((tx) =>
    makeSilence(tx, { write, createdBy: call.who.accountId }),
  );
  const silence = toSilence(call.tenant.store, row, call.now);
  const name = silenceName(silence);
  const back = form.get("back") ?? "";
  const until = timeOnClock(call, silence.ends_at);
  return {
    said: silence.state === "active" ? `Silenced until ${until}: ${name}.` : `Planned: ${name}.`,
    undo: { action: `/silences/${row.id}/end` },
    to: /^\d{1,15}$/.test(back) ? pathOf("a", back) : "/silences",
  };
}
