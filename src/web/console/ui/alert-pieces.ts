import { type AlertState, getAlertRow } from "../../../core/alerts/alert.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { CHOSEN } from "./asked-alerts.ts";
import { area, tick } from "./form.ts";
import { everybody } from "./people-names.ts";
import { ago } from "./times.ts";

/** What the list and the page of one alert both draw. */

/** What a page calls a state in its classes. */
export const STATE_CLASS: Readonly<Record<AlertState, string>> = {
  open: "open",
  acknowledged: "ack",
  resolved: "resolved",
};

const HOURS: readonly [hours: string, name: string][] = [
  ["1", "1 hour"],
  ["2", "2 hours"],
  ["4", "4 hours"],
  ["8", "8 hours"],
  ["24", "1 day"],
  ["168", "7 days"],
];

/** What a field of these needs: its id, and where its form goes, so that what was typed stays where it isn't taken. */
interface AlertActionField {
  call: PageCall;
  id: string;
  action: string;
}

/** How long something is to last: each length is a button that does it, so that none has to be chosen first. `to`: where it goes, if not where its form goes. */
export function hoursButtons(verb: string, to: Piece = null): Markup {
  return html`<p class="hours-for">${verb} for</p><div class="hours">${HOURS.map(
    ([value, name], at) =>
      html`<button class="button${at > 0 && " second"}" name="hours" value="${value}"${to}${at === 0 && html` data-first`} aria-label="${verb} for ${name}">${name}</button>`,
  )}</div>`;
}

export function reasonField({ call, id, action }: AlertActionField): Markup {
  return area(call, action, {
    name: "reason",
    label: "Why",
    rows: 1,
    id,
    more: html`maxlength="1000"`,
  });
}

/** Whom an alert can be given to: everybody here, and schedules by name; `now`: whom they have, where that is one thing. */
export function assignFields(
  { call, id, action }: AlertActionField,
  schedules: readonly { name: string; now?: string | null }[],
): Markup {
  const people = everybody(call.tenant.store).slice(0, 100);
  return html`<fieldset><legend>Who</legend>${people.map(({ id: account, name }) =>
    tick(call, action, { name: "account", value: account, words: name, id: `${id}-${account}` }),
  )}${schedules.map(({ name, now }) =>
    tick(call, action, {
      name: "schedule",
      value: name,
      words: html`on call: ${name}${now === null ? " (nobody now)" : now !== undefined && ` (${now})`}`,
      id: `${id}-s-${name}`,
    }),
  )}</fieldset>
${tick(call, action, { name: "keep_ladder", value: "true", words: "The ladder goes on beside them", id: `${id}-keep` })}`;
}

const MOST_NAMED = 5;

function nameFew(ids: readonly string[]): string {
  const names = ids.slice(0, MOST_NAMED).map((id) => `#${id}`);
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : "";
  return names.join(", ") + more;
}

/** Critical alerts ring through a silence that doesn't say that it means them. `must`: the alert itself is one. */
export function criticalField({ call, id, action }: AlertActionField, must: boolean): Markup {
  const words = must ? "Critical ones too: this alert is one" : "Critical ones too";
  return tick(call, action, { name: "critical", words, id, required: must });
}

/** The same where it is said by the button alone. */
const criticalToo = (isCritical: boolean): { field: Piece; words: string } =>
  isCritical
    ? { field: html`<input type="hidden" name="critical" value="on">`, words: ", critical too" }
    : { field: null, words: "" };

/** What is asked before something is resolved that would open again at once. Empty where nothing was asked. */
export function stillMatching(call: PageCall, path: string): Markup {
  const ids = (call.shown["still"] ?? "").split(",").filter(Boolean);
  const [first] = ids;
  // The list and what is chosen in it may stand on one page: whoever was asked is answered.
  const isOwn =
    path === "/alerts"
      ? call.query.get(CHOSEN) !== call.shown["still"]
      : path === `/a/${call.shown["still"]}`;
  if (first === undefined || !isOwn) return html``;
  const rows = ids.map((id) => getAlertRow(call.tenant.store, Number(id)));
  const critical = criticalToo(rows.some(({ level }) => level >= CRITICAL));
  const last = rows.reduce((most, { last_seen }) => Math.max(most, last_seen), 0);
  const fields =
    path === "/alerts" && html`<input type="hidden" name="id" value="${ids.join(",")}">`;
  const which = ids.length === 1 ? `#${first}` : nameFew(ids);
  const it = ids.length === 1 ? "It" : "They";
  return html`<div class="notice notice-warn" role="alert"><p><strong>${which}: still matching, ${ago(call, last)}.</strong> ${it} would open again at once.</p>
<div class="buttons"><form method="post" action="${call.base}${path}/resolve">${fields}<button class="button second" name="anyway" value="1">Resolve anyway</button></form>
<form method="post" action="${call.base}${path}/silence">${fields}${critical.field}<input type="hidden" name="hours" value="1"><button class="button second">Silence 1 h instead${critical.words}</button></form></div></div>`;
}
