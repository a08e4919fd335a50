import type { EscalationStep } from "../../../core/projects/rule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { editButton } from "./edited-rows.ts";
import { type Filled, fault, numberIn } from "./form.ts";
import { icon } from "./icon.ts";
import type { LadderContext } from "./ladder-context.ts";
import { dutyNow, faceOf, howReached, type LadderCall } from "./ladder-now.ts";
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
interface StepsAround {
  around: LadderContext;
  /** Where the steps stand in the body: `/steps`. */
  at: string;
}

/** Rung after rung, with who that is now and what is proved of them. */
export function stepsForm(call: LadderCall, filled: Filled, { around, at }: StepsAround): Markup {
  const steps = filled.fields.getAll("step");
  return html`${steps.length === 0 && html`<p class="warn">Nobody is paged. Only channels get a message.</p>`}
<ol class="rail">${steps.map((id, index) => step(call, filled, { id, index, around, at: `${at}/${index}` }))}</ol>
${editButton(call, filled, { does: "add-step", name: html`${icon("plus")}Add a rung`, isPlain: true })}${fault(filled, filled.action, at)}`;
}

function step(
  call: LadderCall,
  filled: Filled,
  { id, index, around, at }: StepsAround & { id: string; index: number },
): Markup {
  const name = `s${id}_who`;
  const n = index + 1;
  const who = filled.fields.getAll(name);
  const number = (of: "after" | "repeat", label: string) =>
    numberIn(filled, filled.action, {
      name: `s${id}_${of}`,
      label,
      at: `${at}/${of}_minutes`,
      unit: "min",
    });
  return html`<li class="rung-edit"><span class="step-mark" aria-hidden="true">${n}</span><div><input type="hidden" name="step" value="${id}">${who.map((one, i) => named(call, around, { name, who: one, i, n }))}${fault(filled, filled.action, `${at}/accounts`)}${fault(filled, filled.action, `${at}/schedules`)}
${chooser(call, filled, { id, around, n })}
<p class="buttons"><span class="phrase"><span class="soft small">after</span> ${number("after", `After so many minutes, rung ${n}`)}</span> <span class="phrase"><span class="soft small">again every</span> ${number("repeat", `Again every so many minutes, rung ${n}`)} <span class="soft small">(0: once)</span></span> ${editButton(call, filled, { does: `drop-step-${id}`, name: "Remove rung", label: `Remove rung ${n}`, isPlain: true })}</p></div></li>
`;
}

interface Named {
  name: string;
  who: string;
  /** Which of the rung's, and of which rung. */
  i: number;
  n: number;
}

/** Somebody on a rung, or whoever is on call: who that is now, and what is proved of them. A tick less takes them off. */
function named(call: LadderCall, around: LadderContext, { name, who, i, n }: Named): Markup {
  const of = who.slice(2);
  const isDuty = who.startsWith("s:");
  const people = isDuty ? around.onCall(of) : [of];
  const words = isDuty ? `on call: ${of}` : around.nameOf(of);
  const isReached = people.some((one) => around.reach(one).dot !== "none");
  return html`<label class="check named${!isReached && " named-bad"}"><input type="checkbox" id="r-${name}-${i}" name="${name}" value="${who}" checked aria-label="${words}, on rung ${n}">${faceOf(around, people[0])}<b>${words}</b>${icon("close", "small")}</label><p class="soft small">${isDuty ? dutyNow(call, around, of) : howReached(call, around, of)}</p>`;
}

/** One more; another after *Add*, which stands there once somebody is chosen. What is chosen counts without it, too. */
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
  return html`<div class="rule-row rung-add"><select id="r-${name}" name="${name}" aria-label="Add to rung ${n}"><option value="">+ somebody</option>${
    around.schedules.length > 0 &&
    html`<optgroup label="Whoever is on call">${around.schedules.map((one) => option(`s:${one}`, one))}</optgroup>`
  }<optgroup label="People">${around.people.map((one) => option(`a:${one.id}`, one.name))}</optgroup></select>
${editButton(call, filled, { does: "take", name: "Add", label: `Add to rung ${n}` })}</div>`;
}
