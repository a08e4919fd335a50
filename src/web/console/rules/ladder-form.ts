import type { SimpleField } from "../../../ground/kit/field-kind.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { simpleRuleFields } from "./fields.ts";
import { editButton, type Filled, fault, line, pick, tick } from "./inputs.ts";
import { ladderNow, personNow, scheduleNow } from "./list.ts";
import type { RuleContext } from "./rule-context.ts";

/** THEN: who is paged, step after step, with who that is now and how they are reached. */
export function ladderForm(call: { base: string }, filled: Filled, around: RuleContext): Markup {
  return html`<fieldset id="then"><legend>Then</legend>
${choice(call, filled, around)}
${(filled.fields.get("ladder") ?? "") === "" ? ownSteps(call, filled, around) : namedSteps(filled, around)}
${fault(filled, "/escalations")}</fieldset>
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
      ["", "steps of its own, used by 1 rule"],
      ...ladders.map(({ name }) => [name, name] as const),
    ],
  })}${editButton(call, filled, { does: "ladder", name: "Show", label: "Show this ladder" })}</div>`;
}

function ownSteps(call: { base: string }, filled: Filled, around: RuleContext): Markup {
  const steps = filled.fields.getAll("step");
  return html`${steps.length === 0 && html`<p class="warn">Nobody is paged. Only channels hear of it.</p>`}
<ol class="rule-steps">${steps.map((id, index) => step(call, filled, { id, index, around }))}</ol>
${editButton(call, filled, { does: "add-step", name: "+ Step" })}`;
}

/** The steps of a ladder of the tenant, which aren't changed here. */
function namedSteps({ fields }: Filled, around: RuleContext): Markup {
  const name = fields.get("ladder") ?? "";
  const ladder = around.ladders.find((one) => one.name === name);
  if (ladder === undefined) return html`<p class="wrong">There is no ladder ${name}.</p>`;
  return html`${ladderNow({ escalations: ladder.steps }, around)}
<p class="hint">A change of this ladder is one for every rule that uses it: <code>box ladder set</code>.</p>`;
}

function step(
  call: { base: string },
  filled: Filled,
  { id, index, around }: { id: string; index: number; around: RuleContext },
): Markup {
  const { fields } = filled;
  const name = `s${id}_who`;
  const at = `/escalations/${index}`;
  const n = index + 1;
  return html`<li class="rule-step"><input type="hidden" name="step" value="${id}"><strong>Step ${n}</strong>
<ul class="plain">${fields
    .getAll(name)
    .map(
      (who, i) =>
        html`<li><label class="check"><input type="checkbox" id="r-${name}-${i}" name="${name}" value="${who}" checked> <span>${named(who, around)}</span></label></li>`,
    )}</ul>${fault(filled, `${at}/accounts`)}${fault(filled, `${at}/schedules`)}
${chooser(call, filled, { id, around, n })}
<div class="rule-line">${line(filled, { name: `s${id}_after`, label: "after", at: `${at}/after_minutes`, type: "number", unit: "min", hint: "From the opening." })}
${line(filled, { name: `s${id}_repeat`, label: "again every", at: `${at}/repeat_minutes`, type: "number", unit: "min", hint: "0: once." })}
${editButton(call, filled, { does: `drop-step-${id}`, name: "−", label: `Remove step ${n}` })}</div></li>
`;
}

function named(who: string, around: RuleContext): Markup {
  const name = who.slice(2);
  return who.startsWith("s:")
    ? html`on call: ${scheduleNow(name, around)}`
    : personNow(name, around);
}

/** One more; another after *Add*. What is chosen counts without it, too. */
function chooser(
  call: { base: string },
  filled: Filled,
  { id, around, n }: { id: string; around: RuleContext; n: number },
): Markup {
  const name = `s${id}_add`;
  const there = new Set(filled.fields.getAll(`s${id}_who`));
  const chosen = filled.fields.get(name) ?? "";
  const option = (value: string, words: string) =>
    !there.has(value) &&
    html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`;
  return html`<div class="rule-row"><select id="r-${name}" name="${name}" aria-label="Add to step ${n}"><option value="">+ somebody</option>${
    around.schedules.length > 0 &&
    html`<optgroup label="Whoever is on call">${around.schedules.map((one) => option(`s:${one}`, one))}</optgroup>`
  }<optgroup label="People">${around.people.map((one) => option(`a:${one.id}`, one.name))}</optgroup></select>
${editButton(call, filled, { does: "take", name: "Add", label: `Add to step ${n}` })}</div>`;
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
${line(filled, { name: `q${id}_equal`, label: "with the same", at: `/silenced_by/${i}/equal`, placeholder: "any", hint: "Identifiers, with commas between." })}
${editButton(call, filled, { does: `drop-above-${id}`, name: "−", label: `Remove rule ${i + 1}` })}</div>`,
)}
${fault(filled, "/silenced_by")}${editButton(call, filled, { does: "add-above", name: "+ Rule" })}</div>`;
}
