import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { type Choice, optionsOf } from "./form.ts";
import { WRITTEN_AS_JSON } from "./plain.ts";

/** What the pieces of a rule's form draw themselves with: what its fields hold, and what is wrong with them. */
export interface Filled {
  fields: URLSearchParams;
  /** The form's own address: saving. */
  action: string;
  /** Why what stands at this place of the body, or below it, wasn't taken: `/conditions/0/value`. */
  wrong(pointer: string): string | null;
  /** All that is wrong, in words. */
  faults: readonly string[];
}

export function filledOf(
  { returned }: Pick<PageCall, "returned">,
  action: string,
  fields: URLSearchParams,
): Filled {
  const details = returned?.error.details ?? [];
  return {
    fields,
    action,
    faults: details.map(({ field = "", reason }) => `${field} ${reason}`.trim()),
    wrong(pointer) {
      const found = details.find(
        ({ field = "" }) => field === pointer || field.startsWith(`${pointer}/`),
      );
      return found === undefined ? null : found.reason;
    },
  };
}

export interface Line {
  name: string;
  label: string;
  /** Where it stands in the body. */
  at: string;
  hint?: string;
  type?: "text" | "number" | "url";
  /** What stands behind it: "min". */
  unit?: string;
  /** Names that are offered while one types: the id of a datalist. */
  list?: string;
  placeholder?: string;
  size?: number;
}

/** A labelled field of one line; what can't stand in one line is written as JSON and says so. */
export function line({ fields, wrong }: Filled, of: Line): Markup {
  const { name, label, at, hint, type = "text", unit, list, placeholder, size } = of;
  const fault = wrong(at);
  const isJson = fields.getAll(WRITTEN_AS_JSON).includes(name);
  const id = `r-${name}`;
  const hints = [hint, isJson && "Written as JSON, since it holds what a line can't."].filter(
    Boolean,
  );
  const described = [hints.length > 0 && `${id}-hint`, fault !== null && `${id}-wrong`].filter(
    Boolean,
  );
  return html`<div class="field${type === "number" && " short"}"><label for="${id}">${label}</label>
<span class="with-unit"><input id="${id}" name="${name}" type="${type}" value="${fields.get(name) ?? ""}"${type === "number" && html` min="0" inputmode="numeric"`}${type === "text" && html` dir="auto" autocapitalize="off" spellcheck="false"`}${
    list !== undefined && html` list="${list}"`
  }${placeholder !== undefined && html` placeholder="${placeholder}"`}${size !== undefined && html` size="${size}"`}${
    described.length > 0 && html` aria-describedby="${described.join(" ")}"`
  }${fault !== null && html` aria-invalid="true"`}>${unit !== undefined && html` <span>${unit}</span>`}</span>${
    isJson && html`<input type="hidden" name="${WRITTEN_AS_JSON}" value="${name}">`
  }${hints.length > 0 && html`<p class="hint" id="${id}-hint">${hints.join(" ")}</p>`}${
    fault !== null && html`<p class="wrong" id="${id}-wrong">${fault}</p>`
  }</div>`;
}

/** A number within a sentence: its label is for who doesn't see that. */
export function numberIn(
  { fields, wrong }: Filled,
  of: Pick<Line, "name" | "label" | "at" | "unit">,
): Markup {
  const { name, label, at, unit } = of;
  const fault = wrong(at);
  const id = `r-${name}`;
  return html`<span class="with-unit"><input id="${id}" name="${name}" type="number" min="0" inputmode="numeric" aria-label="${label}" value="${fields.get(name) ?? ""}"${fault !== null && html` aria-invalid="true" aria-describedby="${id}-wrong"`}> <span>${unit}</span></span>${
    fault !== null && html`<span class="wrong small" id="${id}-wrong">${fault}</span>`
  }`;
}

interface Picked {
  name: string;
  label: string;
  at: string;
  choices: readonly Choice[];
  hint?: string;
}

/** A labelled choice; what is chosen and isn't among the choices is one more. */
export function pick({ fields, wrong }: Filled, of: Picked): Markup {
  const { name, label, at, hint } = of;
  const chosen = fields.get(name) ?? "";
  const isKnown = of.choices.some(({ value }) => value === chosen);
  const choices = isKnown ? of.choices : [...of.choices, { value: chosen, name: chosen }];
  const fault = wrong(at);
  const id = `r-${name}`;
  return html`<div class="field short"><label for="${id}">${label}</label>
<select id="${id}" name="${name}"${fault !== null && html` aria-invalid="true" aria-describedby="${id}-wrong"`}>${optionsOf(choices, chosen)}</select>${hint !== undefined && html`<p class="hint">${hint}</p>`}${
    fault !== null && html`<p class="wrong" id="${id}-wrong">${fault}</p>`
  }</div>`;
}

/** Ticked or not. */
export function tick(
  { fields }: Filled,
  of: { name: string; words: string; hint: string },
): Markup {
  const { name, words, hint } = of;
  return html`<div class="field"><label class="check"><input type="checkbox" id="r-${name}" name="${name}" value="on"${fields.has(name) && html` checked`}> ${words}</label><p class="hint">${hint}</p></div>`;
}

/** What is wrong with something that is no field of its own. */
export function fault({ wrong }: Filled, pointer: string): Piece {
  const said = wrong(pointer);
  return said !== null && html`<p class="wrong">${said}</p>`;
}

/** A button of the form that changes its rows and saves nothing. */
export function editButton(
  { base }: { base: string },
  { action }: Filled,
  of: { does: string; name: Piece; label?: string; isPlain?: boolean },
): Markup {
  const { does, name, label, isPlain = false } = of;
  return html`<button class="button ${isPlain ? "plain" : "second"}" name="do" value="${does}" formaction="${base}${action}/edit" formnovalidate${label !== undefined && html` aria-label="${label}"`}>${name}</button>`;
}

/** What the form's + and − do: fields in, fields out. */

const PREFIX = { cond: "c", step: "s", above: "q" } as const;
type Group = keyof typeof PREFIX;

const isGroup = (text: string): text is Group => text in PREFIX;

/** `add-cond` adds a row, `drop-cond-2` takes that one away; anything else only takes in what was chosen. */
export function editedFields(form: URLSearchParams): URLSearchParams {
  const [verb, group = "", id = ""] = (form.get("do") ?? "").split("-", 3);
  const fields = new URLSearchParams([...form].filter(([name]) => name !== "do"));
  takeChosen(fields);
  if (!isGroup(group)) return fields;
  if (verb === "add") addRow(fields, group);
  if (verb === "drop") dropRow(fields, group, id);
  return fields;
}

/** Whoever was chosen to be added to a step stands in it from now on. */
function takeChosen(fields: URLSearchParams): void {
  for (const id of fields.getAll("step")) {
    const chosen = fields.get(`s${id}_add`) ?? "";
    fields.delete(`s${id}_add`);
    if (chosen !== "") fields.append(`s${id}_who`, chosen);
  }
}

function addRow(fields: URLSearchParams, group: Group): void {
  const ids = fields.getAll(group).map(Number);
  const id = Math.max(-1, ...ids.filter(Number.isSafeInteger)) + 1;
  fields.append(group, String(id));
  if (group !== "step") return;
  const last = Math.max(0, ...ids.map((one) => Number(fields.get(`s${one}_after`)) || 0));
  fields.set(`s${id}_after`, String(ids.length === 0 ? 0 : last + 15));
  fields.set(`s${id}_repeat`, "10");
}

function dropRow(fields: URLSearchParams, group: Group, id: string): void {
  fields.delete(group, id);
  const own = `${PREFIX[group]}${id}_`;
  for (const name of [...new Set(fields.keys())]) if (name.startsWith(own)) fields.delete(name);
}
