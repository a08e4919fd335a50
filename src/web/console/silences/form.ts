import { configVersions, findProject } from "../../../core/projects/projects.ts";
import { ruleNames } from "../../../core/projects/rules.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { textOfTemplate } from "../../../in/ingest/templates.ts";
import type { PageCall } from "../screen.ts";
import { field, fieldId, keyed, pills, select, wrongOf } from "../ui/form.ts";
import { knownField, localText } from "../ui/local-time.ts";
import { markedTemplate } from "../ui/message.ts";
import { ENDS } from "./fields.ts";

export const NEW_SILENCE = "/silences/new";
const TRY = `${NEW_SILENCE}/try`;

const LEVELS = [
  { value: "", name: "any level" },
  { value: "500", name: "below critical" },
  { value: "400", name: "below error" },
  { value: "300", name: "below warn" },
];

/** What is to be quiet, from when until when, and why. Works without script; with one, what it would do is shown beside. */
export function silenceForm(call: PageCall, fields: URLSearchParams): Markup {
  const isPlanned = fields.get("kind") === "maintenance";
  return html`<form class="form" id="silence-form" method="post" action="${call.base}${NEW_SILENCE}" data-preview="would" data-preview-to="${call.base}${TRY}">
<input type="hidden" name="kind" value="${isPlanned ? "maintenance" : "silence"}"><input type="hidden" name="back" value="${fields.get("back") ?? call.query.get("alert") ?? ""}">
${isPlanned && field(call, NEW_SILENCE, { name: "name", label: "Name", value: fields.get("name") ?? "", required: true, autocomplete: "off" })}
${isPlanned ? plannedFields(call, fields) : endFields(call, fields)}
${field(call, NEW_SILENCE, { name: "reason", label: "Why", value: fields.get("reason") ?? "", required: true, autocomplete: "off", hint: "Shown to whoever asks why nothing rang.", more: html`maxlength="1000"` })}
${whichFields(call, fields)}
<p class="form-foot"><button class="button" data-busy="Saving …">${isPlanned ? "Plan it" : "Silence"}</button><button class="second" formaction="${call.base}${TRY}#would" formnovalidate>Show what it would do</button> <a href="${call.base}/silences">Cancel</a></p></form>`;
}

/** What few silences say. It stands open where one of it is said. */
const RARE = ["labels", "said", "match/sources", "names", "match/below_level", "conditions", "all"];

function whichFields(call: PageCall, fields: URLSearchParams): Markup {
  const { store } = call.tenant;
  const text = (name: string) => fields.get(name) ?? "";
  const projects = configVersions(store).map(({ project }) => ({ value: project, name: project }));
  const hidden = (name: string): Piece =>
    fields.has(name) && html`<input type="hidden" name="${name}" value="${text(name)}">`;
  return html`<fieldset><legend>Which alerts</legend>
${select(call, NEW_SILENCE, { name: "project", label: "Project", value: text("project"), choices: [{ value: "", name: "every project" }, ...projects] })}
${field(call, NEW_SILENCE, { name: "match/rule", label: "Rule", value: text("match/rule"), autocomplete: "off", more: html`list="known-rules" placeholder="any"` })}
<datalist id="known-rules">${ruleNames(store, 200).map((name) => html`<option value="${name}"></option>`)}</datalist>
${hidden("pairs")}${
  fields.has("pairs")
    ? html`<p>Identifiers: <code>${text("pairs")}</code></p>`
    : field(call, NEW_SILENCE, {
        name: "match/identifiers",
        label: "Identifiers",
        autocomplete: "off",
        value: text("match/identifiers"),
        more: html`placeholder="any"`,
        hint: "provider=acme, region=eu: all must be so.",
      })
}
${templateField(call, fields)}${box(call, fields, { name: "critical", words: "critical ones too", hint: "If unticked, critical alerts ring, also those that become critical later." })}
<details id="rare"${RARE.some((name) => text(name) !== "" || wrongOf(call, NEW_SILENCE, name) !== null) && html` open`}><summary>Labels, sources, level</summary>
${hidden("said")}${
  fields.has("said")
    ? html`<p>Labels: <code>${text("said")}</code></p>`
    : field(call, NEW_SILENCE, {
        name: "labels",
        label: "Labels",
        autocomplete: "off",
        value: text("labels"),
        more: html`placeholder="any"`,
        hint: "host=db7, zone!=eu, service=~web.* for a pattern of the whole value, !~ for its opposite: all must be so. Of a label that varies each known value must.",
      })
}
${hidden("names")}${
  fields.has("names")
    ? html`<p>Sources: <code>${text("names")}</code></p>`
    : field(call, NEW_SILENCE, {
        name: "match/sources",
        label: "Sources",
        autocomplete: "off",
        value: text("match/sources"),
        more: html`placeholder="any"`,
        hint: "Names, separated by commas. An alert with events of several sources rings.",
      })
}
${hidden("conditions")}${
  fields.has("conditions") && html`<p>And: <code>${text("conditions")}</code></p>`
}
${select(call, NEW_SILENCE, { name: "match/below_level", label: "Level", value: text("match/below_level"), choices: LEVELS })}
${box(call, fields, { name: "all", words: "everything of it", hint: "Needed if you choose only a project and a level." })}</details>
</fieldset>`;
}

/** Of the kind of message that it was made from: ticked, until somebody unticks it. */
function templateField(call: PageCall, fields: URLSearchParams): Piece {
  const id = fields.get("template");
  if (id === null) return false;
  const project = findProject(call.tenant.store, fields.get("project") ?? "");
  const template = project === null ? "" : textOfTemplate(call.tenant.store, project.id, id);
  const isTicked = fields.get("match/template_id") === id;
  return html`<input type="hidden" name="template" value="${id}"><p><label class="check"><input type="checkbox" name="match/template_id" value="${id}"${isTicked && html` checked`}> <span>only messages like <span class="message" dir="auto">${markedTemplate(template)}</span></span></label></p>`;
}

function box(
  call: PageCall,
  fields: URLSearchParams,
  { name, words, hint }: { name: string; words: string; hint: string },
): Markup {
  const wrong = wrongOf(call, NEW_SILENCE, name);
  const id = fieldId(NEW_SILENCE, name);
  return html`<div class="field"><label class="check" for="${id}"><input type="checkbox" id="${id}" name="${name}" value="on"${fields.has(name) && html` checked`}${wrong !== null && html` aria-invalid="true"`}> ${words}</label><p class="hint">${hint}</p>${wrong !== null && html`<p class="wrong">${wrong}</p>`}</div>`;
}

function endFields(call: PageCall, fields: URLSearchParams): Markup {
  const { zone } = call.look;
  const at = fields.get("ends_at") ?? localText(zone, call.now + 2 * 3600);
  return html`${pills(call, NEW_SILENCE, { name: "until", label: "How long", value: fields.get("until") ?? "1h", choices: ENDS, hint: "“When I say” ends after 12 hours at the latest, and tells you." })}
<div class="if-at">${timeField(call, fields, { action: NEW_SILENCE, name: "ends_at", label: `Until, on your clock (${zone})`, value: at })}<p class="hint">30 days at most.</p></div>`;
}

function plannedFields(call: PageCall, fields: URLSearchParams): Markup {
  const time = (name: string, label: string) =>
    timeField(call, fields, { action: NEW_SILENCE, name, label, value: fields.get(name) ?? "" });
  return html`<fieldset><legend>When</legend>
${time("starts_at", "From")}${time("ends_at", "Until")}
${select(call, NEW_SILENCE, {
  name: "repeat",
  label: "Repeats",
  value: fields.get("repeat") ?? "none",
  choices: [
    { value: "none", name: "once" },
    { value: "weekly", name: "each week" },
    { value: "daily", name: "each day" },
  ],
})}
${time("repeat_until", "If it repeats, for the last time before")}
${field(call, NEW_SILENCE, { name: "timezone", label: "On the clocks of", value: fields.get("timezone") ?? "", required: true, autocomplete: "off", hint: "As Europe/Berlin: it comes at the same time of day, summer time or not." })}</fieldset>`;
}

/** A date and a time, with the instant that it was drawn with. */
export function timeField(
  call: PageCall,
  fields: URLSearchParams,
  of: { action: string; name: string; label: string; value: string },
): Markup {
  const { action, name, label, value } = of;
  const wrong = wrongOf(call, action, name);
  const id = fieldId(action, name);
  return html`<div class="field"><label for="${id}">${label}</label><input type="datetime-local" id="${id}" name="${name}" value="${value}"${wrong !== null && html` aria-invalid="true" aria-describedby="${id}-wrong"`}><input type="hidden" name="${knownField(name)}" value="${fields.get(knownField(name)) ?? ""}">${wrong !== null && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}</div>`;
}

/** The two ways to begin one. */
export function newButtons({ base }: PageCall): Markup {
  return html`<div class="buttons"><a class="button" href="${base}${NEW_SILENCE}"${keyed("n", "New silence")}>New silence</a> <a class="button second" href="${base}${NEW_SILENCE}?kind=maintenance">Plan a maintenance</a></div>`;
}
