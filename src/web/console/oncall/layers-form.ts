import { listHolidays } from "../../../core/oncall/holidays.ts";
import { MOST_TAKEN } from "../../../core/oncall/schedule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { fault, optionsOf } from "../ui/form.ts";
import { knownField } from "../ui/local-time.ts";
import { everybody, type PeopleNames } from "../ui/people-names.ts";
import { LAYERS_ARE } from "../ui/schedule.ts";
import { type LayerDraft, type ScheduleDraft, TURN_OF_NOBODY, TURN_UNITS } from "./draft.ts";

/** Monday first, as weeks are read. */
const DAYS = [
  [1, "Mon"],
  [2, "Tue"],
  [3, "Wed"],
  [4, "Thu"],
  [5, "Fri"],
  [6, "Sat"],
  [0, "Sun"],
] as const;

const TAKEN = Array.from({ length: MOST_TAKEN }, (_, i) => ({
  value: String(i + 1),
  name: i === 0 ? "one person" : `${i + 1} people: also the next in the order`,
}));

interface LayersForm {
  draft: ScheduleDraft;
  /** Of the page, below the base. */
  action: string;
  names: PeopleNames;
}

export function layersForm(call: PageCall, of: LayersForm): Markup {
  const { base } = call;
  const { draft, action } = of;
  return html`<form id="layers-form" method="post" action="${base}${action}" data-preview="would" data-preview-to="${base}${action}/try"><button class="hidden-text" formaction="${base}${action}/try" tabindex="-1" aria-hidden="true">Show</button>
<div class="form"><div class="field"><label for="schedule-name">Name</label><input id="schedule-name" name="name" value="${draft.name}" required autocomplete="off">${fault(call, action, "/name")}</div>
<div class="field"><label for="schedule-zone">Time zone</label><input id="schedule-zone" name="timezone" value="${draft.timezone}" required autocomplete="off">${fault(call, action, "/timezone")}</div>
<label class="check"><input type="checkbox" name="shared"${draft.shared && html` checked`}> Ladders of every project may name it</label>
<label class="check"><input type="checkbox" name="shift_check"${draft.shiftCheck && html` checked`}> When a shift begins, push its person's devices and say here if none shows it</label>
<label class="check"><input type="checkbox" name="hand_over"${draft.handOver && html` checked`}> At a hand-over, tell both people silently what stands</label>
<label class="check"><input type="checkbox" id="covers" name="covers_hours"${draft.covers === "hours" && html` checked`}> Outside of the layers’ hours nobody is planned: that is no gap</label></div>
<input type="hidden" name="layers" value="${draft.layers.length}">
<h2>Layers</h2><p class="soft">${LAYERS_ARE}</p>
${draft.layers.map((layer, index) => layerFields(call, of, { layer, index }))}
<p class="buttons"><button class="second" name="do" value="new-layer" formaction="${base}${action}/try">Add a layer</button></p>
<p class="form-foot"><button class="button" data-key="Ctrl S" aria-keyshortcuts="Control+S" title="Save (Ctrl S)" data-busy="Saving …">Save</button><button class="second" formaction="${base}${action}/try">Show what it would be</button></p></form>`;
}

/** A button that changes the draft, and saves nothing. */
function draftButton(
  { base }: PageCall,
  action: string,
  of: { change: string; sign: string; label: string },
): Markup {
  return html`<button class="second" id="do-${of.change.replaceAll(":", "-")}" name="do" value="${of.change}" formaction="${base}${action}/try" aria-label="${of.label}" title="${of.label}">${of.sign}</button>`;
}

function layerFields(
  call: PageCall,
  { draft, action, names }: LayersForm,
  { layer, index }: { layer: LayerDraft; index: number },
): Markup {
  const id = (field: string) => `l${index}-${field}`;
  const does = (change: string, sign: string, label: string) =>
    draftButton(call, action, { change, sign, label });
  const last = draft.layers.length - 1;
  const at = `/layers/${index}`;
  const add = everybody(call.tenant.store);
  const nameOf = (person: string) => (person === TURN_OF_NOBODY ? "Nobody" : names(person));
  return html`<fieldset id="layer-${index}" class="layer"><legend>${layer.name}</legend>
<div class="field"><label for="${id("name")}">Name of the layer</label><input id="${id("name")}" name="${id("name")}" value="${layer.name}" autocomplete="off">${fault(call, action, `${at}/name`)}</div>
<fieldset><legend>Who takes turns, in this order</legend><ol class="who">${layer.people.map(
    (person, place) =>
      html`<li class="who-item"><input type="hidden" name="${id("person")}" value="${person}"><span>${place + 1}. ${nameOf(person)}</span><span class="buttons">${does(`up:${index}:${place}`, "↑", `${nameOf(person)} earlier in ${layer.name}`)}${does(`down:${index}:${place}`, "↓", `${nameOf(person)} later in ${layer.name}`)}${does(`remove:${index}:${place}`, "✕", `Remove ${nameOf(person)} from ${layer.name}`)}</span></li>
`,
  )}</ol>${fault(call, action, `${at}/participants`)}<div class="filters"><label for="${id("add")}">Add</label><select id="${id("add")}" name="${id("add")}"><option value="" selected>Choose …</option>${add.map(
    ({ id: person, name }) => html`<option value="${person}">${name}</option>`,
  )}<option value="${TURN_OF_NOBODY}">Nobody</option></select>${does(`add:${index}`, "Add", `Add to ${layer.name}`)}</div></fieldset>
<div class="filters"><div class="field"><label for="${id("starts")}">First turn begins, and each changes at that time</label><input type="datetime-local" id="${id("starts")}" name="${id("starts")}" value="${layer.starts}" required><input type="hidden" name="${id(knownField("starts"))}" value="${layer.known}">${fault(call, action, `${at}/rotation_start`)}</div>
<div class="field"><label for="${id("length")}">Length of a turn</label><input type="number" min="1" id="${id("length")}" name="${id("length")}" value="${layer.length}" required>${fault(call, action, `${at}/shift_minutes`)}</div>
<div class="field"><label for="${id("unit")}">counted in</label><select id="${id("unit")}" name="${id("unit")}">${optionsOf(TURN_UNITS, layer.unit)}</select></div>
<div class="field"><label for="${id("take")}">On call at once</label><select id="${id("take")}" name="${id("take")}">${optionsOf(TAKEN, layer.take)}</select>${fault(call, action, `${at}/take`)}</div></div>
${whenFields(layer, index)}${holidayField(call, layer, index)}${fault(call, action, `${at}/restriction`)}
<div class="buttons">${index > 0 && does(`layer-up:${index}`, "↑", `Move ${layer.name} up`)}${index < last && does(`layer-down:${index}`, "↓", `Move ${layer.name} down`)}${does(`layer-remove:${index}`, "Remove layer", `Remove layer ${layer.name}`)}</div></fieldset>
`;
}

/** Nothing where there are no holidays. */
function holidayField({ tenant }: PageCall, { holidays, name }: LayerDraft, index: number): Markup {
  const calendars = listHolidays(tenant.store);
  if (calendars.length === 0 && holidays === "") return html``;
  const choices = calendars.flatMap((one) => [
    { value: `out:${one.name}`, name: `not on ${one.name}` },
    { value: `only:${one.name}`, name: `only on ${one.name}` },
  ]);
  const id = `l${index}-holidays`;
  return html`<div class="field"><label for="${id}">Holidays in ${name}</label><select id="${id}" name="${id}"><option value="">on all days</option>${optionsOf(choices, holidays)}</select></div>`;
}

function whenFields(layer: LayerDraft, index: number): Markup {
  const name = `l${index}-when`;
  const choice = (value: LayerDraft["when"], words: string) =>
    html`<label class="check"><input type="radio" name="${name}" value="${value}"${value === layer.when && html` checked`}> ${words}</label>`;
  return html`<fieldset><legend>When it counts</legend>${choice("always", "Always")}${
    layer.kept !== "" &&
    html`${choice("kept", `As it is: ${keptWords(layer.kept)}`)}<input type="hidden" name="l${index}-kept" value="${layer.kept}">`
  }${choice("hours", "In these hours of the week")}<details id="l${index}-hours"${layer.when === "hours" && html` open`}><summary>Hours of the week</summary><div class="table-wrap"><table class="hours"><thead><tr><td></td>${Array.from({ length: 24 }, (_, hour) => html`<th scope="col">${hour}</th>`)}</tr></thead><tbody>${DAYS.map(
    ([day, short]) =>
      html`<tr><th scope="row">${short}</th>${Array.from({ length: 24 }, (_, hour) => {
        const at = day * 24 + hour;
        return html`<td><label><input type="checkbox" name="l${index}-hour" value="${at}"${layer.hours.has(at) && html` checked`} aria-label="${short} ${hour}:00"></label></td>`;
      })}</tr>
`,
  )}</tbody></table></div></details></fieldset>`;
}

/** "Mon, Tue 09:30 – 17:15", of what boxes can't say. */
function keptWords(kept: string): string {
  try {
    const { days, start_minute, end_minute } = JSON.parse(kept);
    const two = (n: number) => String(n).padStart(2, "0");
    const time = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
    const on = DAYS.filter(([day]) => days.length === 0 || days.includes(day)).map(
      ([, name]) => name,
    );
    return `${on.join(", ")} ${time(start_minute)} – ${time(end_minute)}`;
  } catch {
    return "what it was";
  }
}
