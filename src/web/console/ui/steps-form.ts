import type { EscalationStep } from "../../../core/projects/rule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { editButton, type Filled, fault, line } from "./inputs.ts";
import type { LadderContext } from "./ladder-context.ts";
import { personNow, scheduleNow } from "./ladder-now.ts";
import { readNumber, withoutAbsent } from "./plain.ts";

/**
 * The steps of a ladder as rows of a form: the hidden field `step` names them in order, `s0_after` belongs to the step `0`.
 * What `stepsOfFields` reads of it are the same steps.
 */
export function putSteps(fields: URLSearchParams, steps: readonly EscalationStep[]): void {
  steps.forEach((step, i) => {
    fields.append("step", String(i));
    for (const account of step.accounts) fields.append(`s${i}_who`, `a:${account}`);
    for (const schedule of step.schedules) fields.append(`s${i}_who`, `s:${schedule}`);
    fields.set(`s${i}_after`, String(step.after_minutes));
    fields.set(`s${i}_repeat`, String(step.repeat_minutes));
  });
}

/** As the interface takes them, for its schema to take or to refuse. */
export function stepsOfFields(form: URLSearchParams): unknown[] {
  return form.getAll("step").map((id) => stepOf(form, id));
}

function stepOf(form: URLSearchParams, id: string) {
  const named = [...form.getAll(`s${id}_who`), form.get(`s${id}_add`) ?? ""];
  const those = (kind: string) =>
    named.filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length));
  return withoutAbsent({
    accounts: those("a:"),
    schedules: those("s:"),
    after_minutes: readNumber(form.get(`s${id}_after`) ?? ""),
    repeat_minutes: readNumber(form.get(`s${id}_repeat`) ?? ""),
  });
}

/** What the form of the steps needs beside them. */
export interface StepsAround {
  around: LadderContext;
  /** Where the steps stand in the body: `/steps`. */
  at: string;
}

/** Step after step, with who that is now and how they are reached. */
export function stepsForm(
  call: { base: string },
  filled: Filled,
  { around, at }: StepsAround,
): Markup {
  const steps = filled.fields.getAll("step");
  return html`${steps.length === 0 && html`<p class="warn">Nobody is paged. Only channels get a message.</p>`}
<ol class="rule-steps">${steps.map((id, index) => step(call, filled, { id, index, around, at: `${at}/${index}` }))}</ol>
${editButton(call, filled, { does: "add-step", name: "+ Step" })}${fault(filled, at)}`;
}

function step(
  call: { base: string },
  filled: Filled,
  { id, index, around, at }: StepsAround & { id: string; index: number },
): Markup {
  const { fields } = filled;
  const name = `s${id}_who`;
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

function named(who: string, around: LadderContext): Markup {
  const name = who.slice(2);
  return who.startsWith("s:")
    ? html`on call: ${scheduleNow(name, around)}`
    : personNow(name, around);
}

/** One more; another after *Add*. What is chosen counts without it, too. */
function chooser(
  call: { base: string },
  filled: Filled,
  { id, around, n }: { id: string; around: LadderContext; n: number },
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
