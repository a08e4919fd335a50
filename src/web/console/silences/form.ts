import { configVersions, findProject } from "../../../core/projects/projects.ts";
import { ruleNames } from "../../../core/projects/rules.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { textOfTemplate } from "../../../in/ingest/templates.ts";
import type { PageCall } from "../screen.ts";
import { type Field, field, keyed, pills, select, tick, wrongOf } from "../ui/form.ts";
import { levelChoices } from "../ui/level.ts";
import { localText } from "../ui/local-time.ts";
import { markedTemplate } from "../ui/message.ts";
import { ENDS } from "./fields.ts";

export const NEW_SILENCE = "/silences/new";
/** Its fields begin with what `fields` holds. */
type SilenceForm = PageCall & { fields: URLSearchParams };

const TRY = `${NEW_SILENCE}/try`;

/** What is to be quiet, from when until when, and why. Works without script; with one, what it would do is shown beside. */
export function silenceForm(page: PageCall, fields: URLSearchParams): Markup {
  const call = { ...page, fields };
  const isPlanned = fields.get("kind") === "maintenance";
  return html`<form class="form" id="silence-form" method="post" action="${call.base}${NEW_SILENCE}" data-preview="would" data-preview-to="${call.base}${TRY}">
<input type="hidden" name="kind" value="${isPlanned ? "maintenance" : "silence"}"><input type="hidden" name="back" value="${fields.get("back") ?? call.query.get("alert") ?? ""}">
${isPlanned && field(call, NEW_SILENCE, { name: "name", label: "Name", required: true, autocomplete: "off" })}
${isPlanned ? plannedFields(call) : endFields(call)}
${field(call, NEW_SILENCE, { name: "reason", label: "Why", prose: true, required: true, autocomplete: "off", hint: "Shown to whoever asks why nothing rang.", more: html`maxlength="1000"` })}
${whichFields(call)}
<p class="form-foot"><button class="button" data-busy="Saving …">${isPlanned ? "Plan it" : "Silence"}</button><button class="second" formaction="${call.base}${TRY}#would" formnovalidate>Show what it would do</button> <a href="${call.base}/silences">Cancel</a></p></form>`;
}

/** What few silences say. It stands open where one of it is said. */
const RARE = ["labels", "said", "match/sources", "names", "match/below_level", "conditions", "all"];

function whichFields(call: SilenceForm): Markup {
  const {
    fields,
    tenant: { store },
  } = call;
  const text = (name: string) => fields.get(name) ?? "";
  const projects = configVersions(store).map(({ project }) => ({ value: project, name: project }));
  const hidden = (name: string): Piece =>
    fields.has(name) && html`<input type="hidden" name="${name}" value="${text(name)}">`;
  /** What can't be typed as a line is said as it is. */
  const orSaid = (said: string, of: Pick<Field, "name" | "label" | "hint">) =>
    fields.has(said)
      ? html`${hidden(said)}<p>${of.label}: <code>${text(said)}</code></p>`
      : field(call, NEW_SILENCE, { ...of, autocomplete: "off", placeholder: "any" });
  return html`<fieldset><legend>Which alerts</legend>
${select(call, NEW_SILENCE, { name: "project", label: "Project", choices: [{ value: "", name: "every project" }, ...projects] })}
${field(call, NEW_SILENCE, { name: "match/rule", label: "Rule", autocomplete: "off", placeholder: "any", more: html`list="known-rules"` })}
<datalist id="known-rules">${ruleNames(store, 200).map((name) => html`<option value="${name}"></option>`)}</datalist>
${orSaid("pairs", { name: "match/identifiers", label: "Identifiers", hint: "provider=acme, region=eu: all must be so." })}
${templateField(call)}${tick(call, NEW_SILENCE, { name: "critical", words: "critical ones too", hint: "If unticked, critical alerts ring, also those that become critical later." })}
<details id="rare"${RARE.some((name) => text(name) !== "" || wrongOf(call, NEW_SILENCE, name) !== null) && html` open`}><summary>Labels, sources, level</summary>
${orSaid("said", { name: "labels", label: "Labels", hint: "host=db7, zone!=eu, service=~web.* for a pattern of the whole value, !~ for its opposite: all must be so. Of a label that varies each known value must." })}
${orSaid("names", { name: "match/sources", label: "Sources", hint: "Names, separated by commas. An alert with events of several sources rings." })}
${hidden("conditions")}${
  fields.has("conditions") && html`<p>And: <code>${text("conditions")}</code></p>`
}
${select(call, NEW_SILENCE, { name: "match/below_level", label: "Level", choices: levelChoices("any level", (name) => `below ${name}`, 300) })}
${tick(call, NEW_SILENCE, { name: "all", words: "everything of it", hint: "Needed if you choose only a project and a level." })}</details>
</fieldset>`;
}

/** Of the kind of message that it was made from: ticked, until somebody unticks it. */
function templateField(call: SilenceForm): Piece {
  const { fields } = call;
  const id = fields.get("template");
  if (id === null) return false;
  const project = findProject(call.tenant.store, fields.get("project") ?? "");
  const template = project === null ? "" : textOfTemplate(call.tenant.store, project.id, id);
  const words = html`<span>only messages like <span class="message" dir="auto">${markedTemplate(template)}</span></span>`;
  return html`<input type="hidden" name="template" value="${id}"><p>${tick(call, NEW_SILENCE, { name: "match/template_id", value: id, words })}</p>`;
}

function endFields(call: SilenceForm): Markup {
  const {
    look: { zone },
    fields,
  } = call;
  const at = fields.get("ends_at") ?? localText(zone, call.now + 2 * 3600);
  return html`${pills(call, NEW_SILENCE, { name: "until", label: "How long", value: fields.get("until") ?? "1h", choices: ENDS, hint: "“When I say” ends after 12 hours at the latest, and notifies you." })}
<div class="if-at">${field(call, NEW_SILENCE, { name: "ends_at", type: "datetime-local", label: `Until, on your clock (${zone})`, value: at, hint: "30 days at most." })}</div>`;
}

function plannedFields(call: SilenceForm): Markup {
  const time = (name: string, label: string) =>
    field(call, NEW_SILENCE, { name, label, type: "datetime-local" });
  return html`<fieldset><legend>When</legend>
${time("starts_at", "From")}${time("ends_at", "Until")}
${select(call, NEW_SILENCE, {
  name: "repeat",
  label: "Repeats",
  value: call.fields.get("repeat") ?? "none",
  choices: [
    { value: "none", name: "once" },
    { value: "weekly", name: "each week" },
    { value: "daily", name: "each day" },
  ],
})}
${time("repeat_until", "If it repeats, for the last time before")}
${field(call, NEW_SILENCE, { name: "timezone", label: "On the clocks of", required: true, autocomplete: "off", hint: "As Europe/Berlin: it comes at the same time of day, summer time or not." })}</fieldset>`;
}

/** The two ways to begin one. */
export function newButtons({ base }: PageCall): Markup {
  return html`<div class="buttons"><a class="button" href="${base}${NEW_SILENCE}"${keyed("n", "New silence")}>New silence</a> <a class="button second" href="${base}${NEW_SILENCE}?kind=maintenance">Plan a maintenance</a></div>`;
}
