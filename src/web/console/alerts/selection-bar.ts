import { namesOfSchedules } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { assignFields, criticalField, hoursButtons, reasonField } from "../ui/alert-pieces.ts";
import { keyed, typed } from "../ui/form.ts";

/** What is done to all that are selected: one form, whose boxes stand in the rows. */
export function selectionBar(call: PageCall): Markup {
  const to = (what: string) => html` formaction="${call.base}/alerts/${what}"`;
  // All of it goes with each button, and stands there again where what one of them wants isn't taken.
  const action = call.returned?.action.startsWith("/alerts/") ? call.returned.action : "";
  const of = (id: string) => ({ call, action, id });
  const menu = (what: string) =>
    html`<details class="menu" id="bulk-${what}"${action === `/alerts/${what}` && html` open`}>`;
  return html`<div class="selection" data-selection><p><span data-count>0</span> selected</p>
<form id="bulk" method="post" action="${call.base}/alerts/ack" data-preview="would-all" data-preview-to="${call.base}/alerts/silence/try"><input type="hidden" name="list" value="${call.query.toString()}"><button class="button"${keyed("a", "Acknowledge")}>Acknowledge</button><button class="button second"${to("resolve")}${keyed("r", "Resolve")}>Resolve</button>${menu("silence")}<summary class="button second"${keyed("s", "Silence")}>Silence …</summary><div>${reasonField(of("bulk-reason"))}${criticalField(of("bulk-critical"), false)}${hoursButtons("Silence", to("silence"))}<section id="would-all" data-live=""></section></div></details>${menu("assign")}<summary class="button second">Assign …</summary><div>${assignFields(of("bulk"), scheduleNames(call))}<button${to("assign")} data-busy="Paging …">Page them now</button></div></details>${menu("note")}<summary class="button second"${keyed("n", "Note")}>Note …</summary><div><div class="field"><label for="bulk-text">Note</label><textarea id="bulk-text" name="text" rows="2" maxlength="4096">${typed(call, action, "text")}</textarea></div><button${to("note")}>Add the note</button></div></details></form></div>`;
}

const MOST_SCHEDULES = 20;

/** Each project's alerts go to its own schedule of the name: whom that has now differs, so it isn't said. */
const scheduleNames = ({ tenant: { store } }: PageCall): { name: string }[] =>
  namesOfSchedules(store, MOST_SCHEDULES).map((name) => ({ name }));
