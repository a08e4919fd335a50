import { html, type Markup } from "../../../ground/kit/html.ts";
import { editButton } from "../ui/edited-rows.ts";
import { type Filled, field, optionsOf, select, tick, wrongOf } from "../ui/form.ts";
import { levelChoices, orWorse } from "../ui/level.ts";
import { readJsonField, WRITTEN_AS_JSON } from "../ui/plain.ts";
import { rowsThatCount } from "./read-fields.ts";
import type { RuleContext } from "./rule-context.ts";

const MISSING = [
  { value: "", name: "(alerts open when something comes)" },
  { value: "any", name: "of each template" },
  { value: "template", name: "of one template" },
  { value: "source", name: "of one source" },
];

/** WHEN: which events count. What few rules ask for lies folded, and open where this one does. */
export function matchForm(call: { base: string }, filled: Filled, around: RuleContext): Markup {
  const isAsked = SELDOM.some(
    ({ names, at }) =>
      names.some((name) => (filled.fields.get(name) ?? "") !== "") ||
      wrongOf(filled, filled.action, at) !== null,
  );
  return html`<fieldset id="when"><legend>When</legend>
<div class="rule-line">${select(filled, filled.action, {
    short: true,
    name: "level",
    label: "Level",
    at: "/match/min_level",
    choices: levelChoices("any level", orWorse, 100),
  })}
${field(filled, filled.action, { name: "sources", label: "Sources", at: "/match/sources", more: html`list="r-known-sources"`, placeholder: "any", hint: "One or more, separated by commas." })}</div>
<datalist id="r-known-sources">${around.sources.map((name) => html`<option value="${name}"></option>`)}</datalist>
${field(filled, filled.action, { name: "template_contains", label: "Text contains", at: "/match/template_contains", placeholder: "anything", hint: "A part of the message that is always the same: what varies, like a number or a host, matches nothing. Upper and lower case differ." })}
${conditions(call, filled)}
${offers(filled)}
<details id="seldom"${isAsked && html` open`}><summary>New, unusual, missing; tags</summary>${seldomForm(filled)}</details></fieldset>`;
}

const SELDOM = [
  { names: ["tags"], at: "/match/tags" },
  { names: ["first_seen_days"], at: "/match/first_seen_days" },
  { names: ["unusual_factor", "unusual_at_least"], at: "/match/unusual" },
  { names: ["missing_is", "missing_of"], at: "/missing" },
] as const;

function seldomForm(filled: Filled): Markup {
  return html`${field(filled, filled.action, { name: "first_seen_days", label: "New: not seen for", at: "/match/first_seen_days", type: "number", unit: "days", placeholder: "any", hint: "1 to 90: only messages whose template did not come in the project for so long, or never. What a new source says in its first 24 hours is learned, and opens nothing by this. Empty: any message." })}
<div class="rule-line">${field(filled, filled.action, { name: "unusual_factor", label: "Unusual: more than", at: "/match/unusual/factor", type: "number", unit: "times as many", placeholder: "any", hint: "2 to 100: only while within the time below more than so many times as many come as usually in these hours of the week, by the last four weeks. It needs two weeks to compare with. Empty: any number." })}
${field(filled, filled.action, { name: "unusual_at_least", label: "and at least", at: "/match/unusual/at_least", type: "number", unit: "events", placeholder: "10" })}</div>
<div class="rule-line">${select(filled, filled.action, {
    short: true,
    name: "missing_is",
    label: "Missing: once there is no more",
    at: "/missing",
    choices: MISSING,
    hint: "Alerts open when nothing comes any more, and end when it comes again. It must have come for two weeks, as often as hourly, and then not for three times its longest pause in them, an hour at least.",
  })}
${field(filled, filled.action, { name: "missing_of", label: "Which", at: "/missing/source", hint: "The id of the template, or the name of the source.", placeholder: "none" })}</div>
${field(filled, filled.action, { name: "tags", label: "Tags", at: "/match/tags", placeholder: "any", hint: "One or more, separated by commas." })}`;
}

const OPS = [
  { value: "eq", name: "is" },
  { value: "neq", name: "isn't" },
  { value: "gte", name: "≥" },
  { value: "lte", name: "≤" },
  { value: "in", name: "is one of" },
  { value: "not_in", name: "isn't one of" },
  { value: "matches", name: "matches" },
  { value: "not_matches", name: "doesn't match" },
];

function conditions(call: { base: string }, filled: Filled): Markup {
  const ids = filled.fields.getAll("cond");
  const counting = rowsThatCount(filled.fields);
  return html`<div class="field"><span class="label" id="r-conditions">Keys of the event</span>
${ids.map((id, row) => condition(call, filled, { id, row, index: counting.indexOf(id) }))}
${ids.length > 0 && html`<p class="hint">Each must hold. “is one of” takes texts with commas between, “matches” a pattern (RE2) of the whole value. A key that isn't there passes only “isn't”, “isn't one of” and “doesn't match”.</p>`}
${editButton(call, filled, { does: "add-cond", name: "+ Condition" })}</div>`;
}

function condition(
  call: { base: string },
  filled: Filled,
  { id, row, index }: { id: string; row: number; index: number },
): Markup {
  const { fields } = filled;
  const of = (part: string) => `c${id}_${part}`;
  const said = index < 0 ? null : wrongOf(filled, filled.action, `/conditions/${index}`);
  const bad = said !== null && html` aria-invalid="true" aria-describedby="r-${of("wrong")}"`;
  const op = fields.get(of("op")) ?? "eq";
  const n = row + 1;
  const keyIsJson = fields.getAll(WRITTEN_AS_JSON).includes(of("key"));
  return html`<div class="rule-row"><input type="hidden" name="cond" value="${id}"><input type="hidden" name="${of("as")}" value="${fields.get(of("as")) ?? ""}">${keyIsJson && html`<input type="hidden" name="${WRITTEN_AS_JSON}" value="${of("key")}">`}
<input id="r-${of("key")}" name="${of("key")}" aria-label="Key of condition ${n}" placeholder="key" value="${fields.get(of("key")) ?? ""}" autocapitalize="off" spellcheck="false"${bad}>
<select id="r-${of("op")}" name="${of("op")}" aria-label="Comparison of condition ${n}">${optionsOf(OPS, op)}</select>
<input id="r-${of("value")}" name="${of("value")}" aria-label="Value of condition ${n}" placeholder="value" value="${fields.get(of("value")) ?? ""}" autocapitalize="off" spellcheck="false"${bad}>
${editButton(call, filled, { does: `drop-cond-${id}`, name: "−", label: `Remove condition ${n}` })}${
  fields.get(of("as")) === "json" && html`<p class="hint">The value is written as JSON.</p>`
}${said !== null && html`<p class="wrong" id="r-${of("wrong")}">${said}</p>`}</div>
`;
}

/** Keys of what the rule is made from: a tick makes one a condition. */
function offers(filled: Filled): Markup | false {
  const offered = filled.fields.getAll("offer");
  if (offered.length === 0) return false;
  return html`<div class="field"><span class="label">Only where</span>${offered.map((text) => {
    const pair = readJsonField(text);
    const [key, value] = Array.isArray(pair) ? pair : ["", ""];
    const words = html`<span>${String(key)} is <var>${String(value)}</var></span>`;
    return html`<input type="hidden" name="offer" value="${text}">${tick(filled, filled.action, { name: "also", value: text, words })}`;
  })}<p class="hint">Keys of what this rule is made from. Ticked: only events with the same value count.</p></div>`;
}

/** FIRES: how many of them open an alert. */
export function fireForm(filled: Filled): Markup {
  return html`<fieldset id="fires"><legend>Fires</legend>
<div class="rule-line">${field(filled, filled.action, { name: "count", label: "after", at: "/fire_after/count", type: "number", unit: "events" })}
${field(filled, filled.action, { name: "distinct_sources", label: "from", at: "/fire_after/distinct_sources", type: "number", unit: "sources" })}
${field(filled, filled.action, { name: "window_minutes", label: "within", at: "/fire_after/window_minutes", type: "number", unit: "min" })}</div>
${field(filled, filled.action, { name: "identifier_keys", label: "One alert for each", at: "/identifier_keys", placeholder: "template", hint: "Each value of these keys gets its own alert, like customer or host. Leave empty for one alert for each kind of message." })}</fieldset>`;
}
