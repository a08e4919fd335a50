import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { type Filled, field, wrongOf } from "../ui/form.ts";
import type { LadderContext } from "../ui/ladder-context.ts";
import { stepsForm } from "../ui/steps-form.ts";
import { LADDER_FORM } from "./question.ts";

export interface EditForm {
  filled: Filled;
  around: LadderContext;
  /** What was read, to see whether somebody else changed it meanwhile. */
  read: string;
  /** Beside Save: what it changes. */
  changes: string;
  /** Where its steps stand in the body; a rule's own steps are all that is edited of it. */
  at: "/steps" | "/escalations";
}

/** The rungs, each with who that is now, and how often the whole ladder runs. What it would do is drawn beside it while one types. */
export function editForm(call: PageCall, { filled, around, read, changes, at }: EditForm): Markup {
  const { base } = call;
  const { action } = filled;
  const isNew = read === "";
  return html`<h2>Rungs</h2><form id="${LADDER_FORM}" class="rule-form" method="post" action="${base}${action}" data-preview="asked,found" data-preview-to="${base}${action}/edit">
<input type="hidden" name="read" value="${read}">
${isNew && nameLine(filled)}
${stepsForm(call, filled, { around, at })}
<p class="hint">Minutes count from the opening of the alert: 0 is at once.</p>
${at === "/steps" && ofItsOwn(filled, isNew)}
<p class="form-foot"><button class="button" data-key="Ctrl S" aria-keyshortcuts="Control+S" title="Save (Ctrl S)" data-busy="Saving …">Save</button> <span class="noscript"><button class="button second" formaction="${base}${action}/edit#found" formnovalidate>Try it</button></span> <span class="soft small">${changes}</span></p></form>`;
}

const nameLine = (filled: Filled) =>
  field(filled, filled.action, {
    name: "name",
    label: "Name",
    at: "/name",
    hint: "Rules and people use this name. If you rename it, rules follow.",
  });

/** What a ladder that has a name has besides its rungs. */
function ofItsOwn(filled: Filled, isNew: boolean): Markup {
  const isWrong = ["/name", "/passes", "/pass_after_minutes", "/team"].some(
    (at) => wrongOf(filled, filled.action, at) !== null,
  );
  return html`<details id="of-its-own"${isWrong && html` open`}><summary>${
    isNew ? "If nobody takes it, and whose it is" : "Name, whose it is, and if nobody takes it"
  }</summary>
${!isNew && nameLine(filled)}
${passes(filled)}</details>`;
}

function passes(filled: Filled): Markup {
  return html`<div class="rule-line">${field(filled, filled.action, { name: "passes", label: "The whole ladder runs", at: "/passes", type: "number", unit: "times" })}
${field(filled, filled.action, { name: "pass_after_minutes", label: "again after", at: "/pass_after_minutes", type: "number", unit: "min", hint: "Minutes after its last rung. After the last pass, the fallback is paged that many minutes later, once. Leave empty if the ladder runs once." })}</div>
${field(filled, filled.action, { name: "team", label: "Whose it is", at: "/team", hint: "A team, for example." })}`;
}
