import { html, type Markup } from "../../kit/html.ts";
import { namesOfSchedules } from "../../oncall/schedules.ts";
import type { PageCall } from "../screen.ts";
import { keyed } from "../ui/form.ts";
import { assignFields, hoursField, reasonField } from "./pieces.ts";

/** What is done to all that are selected: one form, whose boxes stand in the rows. */
export function selectionBar(call: PageCall): Markup {
  const to = (what: string) => html` formaction="${call.base}/alerts/${what}"`;
  return html`<div class="selection" data-selection><p><span data-count>0</span> selected</p>
<form id="bulk" method="post" action="${call.base}/alerts/ack"><button class="button"${keyed("a", "Acknowledge")}>Acknowledge</button><button class="button second"${to("resolve")}${keyed("r", "Resolve")}>Resolve</button><details class="menu" id="bulk-silence"><summary class="button second"${keyed("s", "Silence")}>Silence …</summary><div>${hoursField("bulk-hours")}${reasonField("bulk-reason")}<button${to("silence")} data-first>Silence</button></div></details><details class="menu" id="bulk-assign"><summary class="button second">Assign …</summary><div>${assignFields("bulk", call.tenant.store, scheduleNames(call))}<button${to("assign")} data-busy="Paging …">Page them now</button></div></details><details class="menu" id="bulk-note"><summary class="button second"${keyed("n", "Note")}>Note …</summary><div><div class="field"><label for="bulk-text">Note</label><textarea id="bulk-text" name="text" rows="2" maxlength="4096"></textarea></div><button${to("note")}>Add the note</button></div></details></form></div>`;
}

const MOST_SCHEDULES = 20;

/** Each project's alerts go to its own schedule of the name: whom that has now differs, so it isn't said. */
const scheduleNames = ({ tenant: { store } }: PageCall): { name: string }[] =>
  namesOfSchedules(store, MOST_SCHEDULES).map((name) => ({ name }));
