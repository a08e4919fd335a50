import type { SimpleField } from "../../../ground/kit/field-kind.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { pathOf } from "../screen.ts";
import { editButton, type Filled, fault, line, pick, tick } from "../ui/inputs.ts";
import { type LadderCall, ladderNow } from "../ui/ladder-now.ts";
import { stepsForm } from "../ui/steps-form.ts";
import { simpleRuleFields } from "./fields.ts";
import type { RuleContext } from "./rule-context.ts";

/** THEN: who is paged, step after step, with who that is now and how they are reached. */
export function ladderForm(call: LadderCall, filled: Filled, around: RuleContext): Markup {
  return html`<fieldset id="then"><legend>Then</legend>
${choice(call, filled, around)}
${(filled.fields.get("ladder") ?? "") === "" ? stepsForm(call, filled, { around, at: "/escalations" }) : namedSteps(call, filled, around)}</fieldset>
<fieldset id="ends"><legend>Ends</legend><div class="rule-line">${line(filled, { name: "auto_resolve_quiet_minutes", label: "Resolve after", at: "/auto_resolve_quiet_minutes", type: "number", unit: "quiet min", hint: "0: a person or its sender ends it." })}</div></fieldset>`;
}

function choice(call: { base: string }, filled: Filled, { ladders }: RuleContext): Markup {
  if (ladders.length === 0 && (filled.fields.get("ladder") ?? "") === "")
    return html`<input type="hidden" name="ladder" value="">`;
  return html`<div class="rule-line">${pick(filled, {
    name: "ladder",
    label: "Ladder",
    at: "/ladder",
    choices: [
      ["", "rungs of this rule alone"],
      ...ladders.map(({ name }) => [name, name] as const),
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
export function actionsForm(filled: Filled, around: RuleContext): Markup | false {
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
  const box = (id: string, i: number, isOn: boolean) =>
    html`<label class="check"><input type="checkbox" id="r-action-${i}" name="action" value="${id}"${isOn && html` checked`}> ${words(id)}</label>`;
  return html`<fieldset id="runs"><legend>Runs</legend>
${pick(filled, {
  name: "actions_are",
  label: "Actions",
  at: "/actions",
  choices: [
    ["all", "every action that takes the event"],
    ["these", "only those ticked below"],
  ],
})}${chosen.map((id, i) => box(id, i, true))}${rest.map(({ id }, i) => box(id, chosen.length + i, false))}</fieldset>`;
}

/** Everything else that a rule has. */
export function moreForm(call: { base: string }, filled: Filled): Markup {
  return html`<details id="more-of-rule"><summary>More</summary>
${simpleRuleFields.filter(({ name }) => !ELSEWHERE.has(name)).map((field) => html`${simple(filled, field)}\n`)}
${silencers(call, filled)}</details>`;
}

/** Drawn where they are looked for: under *Fires* and *Ends*. */
const ELSEWHERE = new Set(["identifier_keys", "auto_resolve_quiet_minutes"]);

function simple(filled: Filled, { name, kind, ...words }: SimpleField): Markup {
  if (kind === "switch") return tick(filled, { name, words: words.label, hint: words.hint });
  return line(filled, { name, ...words, at: `/${name}`, type: kind === "number" ? kind : "text" });
}

function silencers(call: { base: string }, filled: Filled): Markup {
  const ids = filled.fields.getAll("above");
  return html`<div class="field"><span class="label">Silent while another rule's alert stands</span>
${ids.map(
  (id, i) => html`<div class="rule-line"><input type="hidden" name="above" value="${id}">
${line(filled, { name: `q${id}_rule`, label: "Rule", at: `/silenced_by/${i}/rule` })}
${line(filled, { name: `q${id}_equal`, label: "with the same", at: `/silenced_by/${i}/equal`, placeholder: "any", hint: "Labels, separated by commas." })}
${editButton(call, filled, { does: `drop-above-${id}`, name: "−", label: `Remove rule ${i + 1}` })}</div>`,
)}
${fault(filled, "/silenced_by")}${editButton(call, filled, { does: "add-above", name: "+ Rule" })}</div>`;
}
