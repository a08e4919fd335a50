import { type AwayInput, awayWrite, readAway, writeAway } from "../../../core/oncall/away.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { mustBeOwnOrGoverned } from "../../../out/contacts/contacts.ts";
import type { Form, PageCall } from "../screen.ts";
import { button, field } from "./form.ts";
import { instantField } from "./local-time.ts";
import { stretchWords } from "./schedule.ts";
import { ago } from "./times.ts";

/** When somebody is away, and the forms that change it: on their own page and on a manager's page of them. */

export function awaySection(
  call: PageCall,
  { account, at }: { account: string; at: string },
): Markup {
  const { base, look, tenant } = call;
  const away = readAway(tenant.store, account);
  const words = ({ from, until }: { from: number; until: number }) =>
    stretchWords({ starts_at: from, ends_at: until }, look.zone);
  const item = (span: { from: number; until: number; note: string }, more: Markup | null) =>
    html`<li class="who-item"><div><p>${words(span)}</p><p class="soft small">${span.note}</p></div>${more}</li>
`;
  const time = (name: string, label: string) =>
    field(call, `${at}/away/add`, { name, label, type: "datetime-local", required: true });
  return html`<h2>Away</h2><p class="soft">The box marks ${account === call.who.accountId ? "your shifts in these times and, from 14 days before, asks you to find cover" : "their shifts in these times and, from 14 days before, asks them to find cover"}. It changes no schedule.</p>
<ul class="who">${away.spans.map((span) =>
    item(
      span,
      html`<div class="buttons">${button(call, {
        action: `${at}/away/remove`,
        name: "Remove",
        kind: "plain",
        label: `Remove: ${words(span)}`,
        fields: { from: String(span.from), until: String(span.until) },
      })}</div>`,
    ),
  )}${away.ical_spans.map((span) => item(span, html`<span class="soft small">calendar</span>`))}</ul>
<details id="add-away"><summary>Add a time away</summary><form class="form" method="post" action="${base}${at}/away/add">${time("from", "From")}${time("until", "Until")}${field(call, `${at}/away/add`, { name: "note", label: "Note", autocomplete: "off", prose: true })}<p class="hint">On your clock, ${look.zone}.</p><p class="form-foot"><button class="button second">Add</button></p></form></details>
<details id="away-calendar"><summary>A calendar${away.ical !== null && html`: ${away.ical}`}</summary>${
    away.ical_error !== null && html`<p class="wrong">It could not be read: ${away.ical_error}.</p>`
  }${away.ical_read_at !== null && html`<p class="soft">Read ${ago(call, away.ical_read_at)}.</p>`}<form class="form" method="post" action="${base}${at}/away/calendar">${field(call, `${at}/away/calendar`, { name: "ical", label: "Its https address", value: away.ical ?? "", hint: "Its busy all-day events count as times away. Leave empty for none.", autocomplete: "off" })}<p class="form-foot"><button class="button second">Save the calendar</button></p></form></details>`;
}

/** The forms below a person's page. `accountOf`: whose, of the page's own address. */
export function awayForms(accountOf: (call: PageCall) => string): Record<string, Form> {
  const form = (
    act: (call: PageCall, given: URLSearchParams, spans: AwayInput["spans"]) => unknown,
    said: string,
  ): Form => ({
    verb: "putAway",
    act(call, given) {
      const { store, sealer, addressRules: rules } = call.tenant;
      const account = accountOf(call);
      store.write((tx) => {
        mustBeOwnOrGoverned(tx, call.who.accountId, account);
        const input = check(awayWrite, act(call, given, readAway(tx, account).spans), "body");
        writeAway(tx, account, { input, sealer, rules });
      });
      return { said };
    },
  });
  return {
    "away/add": form(({ look }, given, spans) => {
      const [from, until] = [
        instantField(look.zone, given, "from"),
        instantField(look.zone, given, "until"),
      ];
      return { spans: [...spans, { from, until, note: given.get("note") ?? "" }] };
    }, "Added. Your shifts stay yours until somebody takes them."),
    "away/remove": form((_call, given, spans) => {
      const [from, until] = [Number(given.get("from")), Number(given.get("until"))];
      return { spans: spans.filter((one) => one.from !== from || one.until !== until) };
    }, "Removed."),
    "away/calendar": form((_call, given, spans) => {
      const ical = given.get("ical") ?? "";
      return { spans, ical: ical === "" ? null : ical };
    }, "Saved."),
  };
}
