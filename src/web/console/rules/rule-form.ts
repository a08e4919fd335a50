import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { editButton, type Filled, line } from "../ui/inputs.ts";
import type { LadderCall } from "../ui/ladder-now.ts";
import { actionsForm, ladderForm, moreForm } from "./ladder-form.ts";
import { fireForm, matchForm } from "./match-form.ts";
import type { RuleContext } from "./rule-context.ts";

export interface RuleForm {
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
      ? line(filled, {
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

function jsonForm({ faults }: Filled, json: string): Markup {
  const bad = faults.length > 0;
  return html`<div class="field"><label for="r-json">The rule as the interface takes it</label>
<textarea id="r-json" name="json" rows="24" class="mono" spellcheck="false" autocapitalize="off"${bad && html` aria-invalid="true" aria-describedby="r-json-wrong"`}>
${json}</textarea>${bad && html`<div id="r-json-wrong">${faults.map((fault) => html`<p class="wrong">${fault}</p>`)}</div>`}</div>`;
}

const DAYS = [
  ["1", "1 day"],
  ["7", "7 days"],
  ["14", "14 days"],
  ["30", "30 days"],
] as const;

/** On what it is tried: the kept lines, or those that were pasted. */
function tryFields({ filled, keepsLines, around, keep = null }: RuleForm): Markup {
  const { fields } = filled;
  const days = fields.get("days") ?? "7";
  const paste = fields.get("lines") ?? "";
  return html`<fieldset id="try-on"><legend>Try it on</legend>
<div class="rule-line"><div class="field short"><label for="r-days">The kept lines of</label><select id="r-days" name="days">${DAYS.map(
    ([value, words]) =>
      html`<option value="${value}"${value === days && html` selected`}>${words}</option>`,
  )}</select></div></div>
${!keepsLines && html`<p class="warn">${around.sources.length === 0 ? "No source yet" : "Nothing to try it on: no source keeps its lines"}. Paste some below${keep !== null && html`, or ${keep}`}.</p>`}
<details id="paste"${(!keepsLines || paste !== "") && html` open`}><summary>Or on pasted lines</summary><div class="field"><label for="r-lines">Lines</label><textarea id="r-lines" name="lines" rows="5" class="mono" spellcheck="false">
${paste}</textarea><p class="hint">A message on each, at most 1,000: taken in place of the kept ones, as if they came just now.</p></div></details></fieldset>`;
}
