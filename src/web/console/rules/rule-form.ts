import type { SimpleField } from "../../../ground/kit/field-kind.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { pathOf } from "../screen.ts";
import { editButton } from "../ui/edited-rows.ts";
import { area, type Filled, fault, field, select, tick } from "../ui/form.ts";
import { type LadderCall, ladderNow } from "../ui/ladder-now.ts";
import { stepsForm } from "../ui/steps-form.ts";
import { simpleRuleFields } from "./fields.ts";
import { fireForm, matchForm } from "./match-form.ts";
import type { RuleContext } from "./rule-context.ts";

interface RuleForm {
  filled: Filled;
  around: RuleContext;
  /** A saved rule's name is its address; null: a new one. */
  saved: string | null;
  /** What was read, to see whether somebody else changed it meanwhile. */
  read: string;
  /** Whether there is something to try it on. */
  keepsLines: boolean;
  /** A way to the settings of a source that keeps none; null where there is none. */
  keep?: Markup | null;
}

/** The whole form: the rule in words, or as JSON. */
export function ruleForm(call: LadderCall, form: RuleForm): Markup {
  const { filled, saved, read } = form;
  const { fields, action } = filled;
  const json = fields.get("json");
  const isJson = json !== null;
  return html`<form class="rule-form" method="post" action="${call.base}${action}" data-preview="preview" data-preview-to="${call.base}${action}/try">
<div class="form-foot rule-foot"><button class="button" data-key="Ctrl S" aria-keyshortcuts="Control+S" title="Save (Ctrl S)" data-busy="Saving …">Save</button>
<button class="button second" formaction="${call.base}${action}/try#preview" data-busy="Looking through the lines …">Try it</button>
${editButton(call, filled, isJson ? { does: "as-form", name: "As a form" } : { does: "as-json", name: "As JSON" })} <a class="rule-to-result" href="#preview">Result</a></div>
<input type="hidden" name="read" value="${read}">
${isJson ? jsonForm(filled, json) : inWords(call, form)}
${tryFields(form)}
${saved !== null && html`<p class="hint">When you save a change, the rule starts to count again from zero.</p>`}</form>`;
}

function inWords(call: LadderCall, { filled, around, saved }: RuleForm): Piece {
  return html`${
    saved === null
      ? field(filled, filled.action, {
          name: "name",
          label: "Name",
          at: "/name",
          hint: "People read it on their phones. Say what is wrong when it fires.",
        })
      : html`<input type="hidden" name="name" value="${saved}">`
  }
${matchForm(call, filled, around)}
${fireForm(filled)}
${ladderForm(call, filled, around)}
${actionsForm(filled, around)}
${moreForm(call, filled)}`;
}

function jsonForm({ returned }: Filled, json: string): Markup {
  const faults = returned?.error.details ?? [];
  const bad = faults.length > 0;
  return html`<div class="field"><label for="r-json">The rule as the interface takes it</label>
<textarea id="r-json" name="json" rows="24" class="mono" spellcheck="false" autocapitalize="off"${bad && html` aria-invalid="true" aria-describedby="r-json-wrong"`}>
${json}</textarea>${bad && html`<div id="r-json-wrong">${faults.map(({ field = "", reason }) => html`<p class="wrong">${`${field} ${reason}`.trim()}</p>`)}</div>`}</div>`;
}

const DAYS = [
  { value: "1", name: "1 day" },
  { value: "7", name: "7 days" },
  { value: "14", name: "14 days" },
  { value: "30", name: "30 days" },
];

/** On what it is tried: the kept lines, or those that were pasted. */
function tryFields({ filled, keepsLines, around, keep = null }: RuleForm): Markup {
  const { fields, action } = filled;
  const paste = fields.get("lines") ?? "";
  return html`<fieldset id="try-on"><legend>Try it on</legend>
<div class="rule-line">${select(filled, action, { name: "days", label: "The kept lines of", short: true, value: fields.get("days") ?? "7", choices: DAYS })}</div>
${!keepsLines && html`<p class="warn">${around.sources.length === 0 ? "No source yet" : "Nothing to try it on: no source keeps its lines"}. Paste some below${keep !== null && html`, or ${keep}`}.</p>`}
<details id="paste"${(!keepsLines || paste !== "") && html` open`}><summary>Or on pasted lines</summary>${area(filled, action, { name: "lines", label: "Lines", rows: 5, more: html`class="mono" spellcheck="false"`, hint: "A message on each, at most 1,000: taken in place of the kept ones, as if they came just now." })}</details></fieldset>`;
}

/** THEN: who is paged, step after step, with who that is now and how they are reached. */
function ladderForm(call: LadderCall, filled: Filled, around: RuleContext): Markup {
  return html`<fieldset id="then"><legend>Then</legend>
${choice(call, filled, around)}
${(filled.fields.get("ladder") ?? "") === "" ? stepsForm(call, filled, { around, at: "/escalations" }) : namedSteps(call, filled, around)}</fieldset>
<fieldset id="ends"><legend>Ends</legend><div class="rule-line">${field(filled, filled.action, { name: "auto_resolve_quiet_minutes", label: "Resolve after", at: "/auto_resolve_quiet_minutes", type: "number", unit: "quiet min", hint: "0: a person or its sender ends it." })}</div></fieldset>`;
}

function choice(call: { base: string }, filled: Filled, { ladders }: RuleContext): Markup {
  if (ladders.length === 0 && (filled.fields.get("ladder") ?? "") === "")
    return html`<input type="hidden" name="ladder" value="">`;
  return html`<div class="rule-line">${select(filled, filled.action, {
    short: true,
    name: "ladder",
    label: "Ladder",
    at: "/ladder",
    choices: [
      { value: "", name: "rungs of this rule alone" },
      ...ladders.map(({ name }) => ({ value: name, name })),
    ],
  })}${editButton(call, filled, { does: "ladder", name: "Show", label: "Show this ladder" })}</div>`;
}

/** The steps of a ladder of the tenant, which aren't changed here. */
function namedSteps(call: LadderCall, { fields }: Filled, around: RuleContext): Markup {
  const name = fields.get("ladder") ?? "";
  const ladder = around.ladders.find((one) => one.name === name);
  if (ladder === undefined) return html`<p class="wrong">There is no ladder ${name}.</p>`;
  return html`${ladderNow(call, { escalations: ladder.steps }, around)}
<p class="hint">A change of <a href="${call.base}${pathOf("ladders", name)}">this ladder</a> is one for every rule that uses it.</p>`;
}

/** What a rule's alerts run. */
function actionsForm(filled: Filled, around: RuleContext): Markup | false {
  const { fields } = filled;
  const chosen = fields.getAll("action");
  if (around.actions.length === 0 && fields.get("actions_are") !== "these")
    return html`<input type="hidden" name="actions_are" value="all">`;
  const rest = around.actions.filter(({ id }) => !chosen.includes(id));
  const words = (id: string) => {
    const action = around.actions.find((one) => one.id === id);
    if (action === undefined) return `${id}, which isn't there`;
    return action.enabled ? action.name : `${action.name} (off)`;
  };
  const box = (id: string) =>
    tick(filled, filled.action, { name: "action", value: id, words: words(id) });
  return html`<fieldset id="runs"><legend>Runs</legend>
${select(filled, filled.action, {
  short: true,
  name: "actions_are",
  label: "Actions",
  at: "/actions",
  choices: [
    { value: "all", name: "every action that takes the event" },
    { value: "these", name: "only those ticked below" },
  ],
})}${chosen.map(box)}${rest.map(({ id }) => box(id))}</fieldset>`;
}

/** Everything else that a rule has. */
function moreForm(call: { base: string }, filled: Filled): Markup {
  return html`<details id="more-of-rule"><summary>More</summary>
${simpleRuleFields.filter(({ name }) => !ELSEWHERE.has(name)).map((field) => html`${simple(filled, field)}\n`)}
${silencers(call, filled)}</details>`;
}

/** Drawn where they are looked for: under *Fires* and *Ends*. */
const ELSEWHERE = new Set(["identifier_keys", "auto_resolve_quiet_minutes"]);

function simple(filled: Filled, { name, kind, ...words }: SimpleField): Markup {
  if (kind === "switch")
    return tick(filled, filled.action, { name, words: words.label, hint: words.hint });
  return field(filled, filled.action, {
    name,
    ...words,
    at: `/${name}`,
    type: kind === "number" ? kind : "text",
  });
}

function silencers(call: { base: string }, filled: Filled): Markup {
  const ids = filled.fields.getAll("above");
  return html`<div class="field"><span class="label">Silenced until another rule's alert is resolved</span>
${ids.map(
  (id, i) => html`<div class="rule-line"><input type="hidden" name="above" value="${id}">
${field(filled, filled.action, { name: `q${id}_rule`, label: "Rule", at: `/silenced_by/${i}/rule` })}
${field(filled, filled.action, { name: `q${id}_equal`, label: "with the same", at: `/silenced_by/${i}/equal`, placeholder: "any", hint: "Labels, separated by commas." })}
${editButton(call, filled, { does: `drop-above-${id}`, name: "−", label: `Remove rule ${i + 1}` })}</div>`,
)}
${fault(filled, filled.action, "/silenced_by")}${editButton(call, filled, { does: "add-above", name: "+ Rule" })}</div>`;
}
