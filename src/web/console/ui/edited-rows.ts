import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { Filled } from "./form.ts";

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
