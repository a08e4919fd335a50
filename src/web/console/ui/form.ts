import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { knownField } from "./local-time.ts";
import { WRITTEN_AS_JSON } from "./plain.ts";

type Keyed = { key?: string };

/** A single key that presses it: shown where a pointer rests, and told to screen readers. */
export function keyed(key: string | undefined, name: string): Piece {
  if (key === undefined) return false;
  return html` data-key="${key}" aria-keyshortcuts="${key}" title="${name} (${key})"`;
}

interface Button extends Keyed {
  /** Below the base. */
  action: string;
  name: string;
  kind?: "" | "second" | "danger" | "plain";
  fields?: Readonly<Record<string, string>>;
  /** Why it can't be pressed: shown, not hidden. */
  why?: string;
  /** Where the name alone doesn't say which: for screen readers, beginning with the name. */
  label?: string;
  /** It is what the page was opened for. */
  first?: boolean;
  /** By it a script knows the form again in what the box draws anew beside others. */
  id?: string;
}

/** A button that does one thing: a form of its own, so that it works without script. */
export function button({ base }: Pick<PageCall, "base">, of: Button): Markup {
  const { action, name, kind = "", fields = {}, why, label, first = false } = of;
  const ownId = of.id !== undefined && html` id="${of.id}"`;
  const id = `why${action.replaceAll(/[^\w-]/g, "-")}`;
  const denied = why !== undefined && html` disabled aria-describedby="${id}"`;
  return html`<form method="post" action="${base}${action}"${ownId}>${Object.entries(fields).map(
    ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`,
  )}<button class="button ${kind}"${denied}${keyed(of.key, name)}${
    label !== undefined && html` aria-label="${label}"`
  }${first && html` autofocus`}>${name}</button>${
    why !== undefined && html`<span class="why soft" id="${id}">${why}</span>`
  }</form>`;
}

/** What the fields of a form are drawn with: what it came back with, or what they begin with. */
interface Filling extends Pick<PageCall, "returned"> {
  /** What fields hold that say no value of their own. */
  fields?: URLSearchParams;
}

/** A form whose fields all begin with what one set of fields holds. */
export interface Filled extends Filling {
  fields: URLSearchParams;
  /** The form's own address: saving. */
  action: string;
}

/** `returned`: its form is this one, whichever of its buttons was pressed. */
export const filledOf = (
  { returned }: Pick<PageCall, "returned">,
  action: string,
  fields: URLSearchParams,
): Filled => ({ returned: returned && { ...returned, action }, action, fields });

interface Labelled {
  name: string;
  label: Piece;
  /** Where the form stands on its page more than once. */
  id?: string;
  hint?: string;
  /** Where it stands in the body, if not under its name: `/match/sources`. */
  at?: string;
}

export interface Field extends Labelled {
  value?: string;
  type?: "text" | "email" | "password" | "number" | "url" | "datetime-local";
  /** What stands behind it: "min". */
  unit?: string;
  /** It holds sentences, not names: they are spelt and begin with a capital letter. */
  prose?: boolean;
  placeholder?: string;
  required?: boolean;
  /** For password managers and phones' keyboards. */
  autocomplete?: string;
  /** Further attributes, made by `html`. */
  more?: Markup;
}

/** What a form's field holds: what was typed where the form came back, else `value`. */
export function typed(
  { returned, fields }: Filling,
  action: string,
  name: string,
  value = fields?.get(name) ?? "",
): string {
  return returned?.action === action ? (returned.form.get(name) ?? "") : value;
}

/** What stands at a secret that was typed before its form came back: nobody is sent it, and it isn't left out by mistake. */
const AGAIN = "Type it again: it isn’t sent back.";

/** Why what stands at a place of the body, or below it, wasn't taken; null where it was. `/name` and `?name` in the errors of the interface. */
export function wrongOf({ returned }: Filling, action: string, at: string): string | null {
  if (returned?.action !== action) return null;
  const pointer = at.startsWith("/") ? at : `/${at}`;
  const found = returned.error.details.find(
    ({ field = "" }) => field === pointer || field === `?${at}` || field.startsWith(`${pointer}/`),
  );
  return found === undefined ? null : found.reason;
}

/** What is wrong with something that is no field of its own. */
export function fault(call: Filling, action: string, at: string): Piece {
  const wrong = wrongOf(call, action, at);
  return wrong !== null && html`<p class="wrong">${wrong}</p>`;
}

/** An input between its label and its hint, with what is wrong with it; `ties` are the attributes that say so. */
function labelled(
  call: Filling,
  action: string,
  {
    name,
    label,
    id = fieldId(action, name),
    hint,
    at = name,
    short = false,
  }: Labelled & { short?: boolean },
  input: (id: string, ties: Markup) => Markup,
): Markup {
  const wrong = wrongOf(call, action, at);
  const described = [hint && `${id}-hint`, wrong !== null && `${id}-wrong`].filter(Boolean);
  const ties = html`${described.length > 0 && html` aria-describedby="${described.join(" ")}"`}${wrong !== null && html` aria-invalid="true"`}`;
  return html`<div class="field${short && " short"}"><label for="${id}">${label}</label>
${input(id, ties)}
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${wrong !== null && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}</div>`;
}

/** A secret that was typed before its form came back is typed again, and says so. */
function retyped<F extends Labelled & { required?: boolean }>(
  call: Filling,
  action: string,
  of: F,
): F {
  if (typed(call, action, of.name, "") === "") return of;
  return { ...of, required: true, hint: [AGAIN, of.hint].filter(Boolean).join(" ") };
}

/** A labelled field of one line in the form at `action`. What can't stand in one line is written as JSON and says so. */
export function field(call: Filling, action: string, asked: Field): Markup {
  const { name, type = "text", unit, prose = false, placeholder, autocomplete, more } = asked;
  const isJson = call.fields?.getAll(WRITTEN_AS_JSON).includes(name) === true;
  const of = type === "password" ? retyped(call, action, asked) : asked;
  const hint = isJson
    ? [of.hint, "Written as JSON, since it holds what a line can't."].filter(Boolean).join(" ")
    : of.hint;
  const value = type === "password" ? "" : typed(call, action, name, of.value);
  const around = { ...of, ...(hint !== undefined && { hint }), short: unit !== undefined };
  return labelled(call, action, around, (id, ties) => {
    const input = html`<input id="${id}" name="${name}" type="${type}" value="${value}"${of.required && html` required`}${
      autocomplete !== undefined && html` autocomplete="${autocomplete}"`
    }${ties}${placeholder !== undefined && html` placeholder="${placeholder}"`}${type === "number" && html` min="0" inputmode="numeric"`}${
      type === "text" && html` dir="auto"`
    }${
      type === "text" && !prose && html` autocapitalize="off" spellcheck="false"`
    }${more !== undefined && html` ${more}`}>`;
    return html`${unit === undefined ? input : html`<span class="with-unit">${input} <span>${unit}</span></span>`}${
      isJson && html`<input type="hidden" name="${WRITTEN_AS_JSON}" value="${name}">`
    }${type === "datetime-local" && html`<input type="hidden" name="${knownField(name)}" value="${typed(call, action, knownField(name))}">`}`;
  });
}

/** A number within a sentence: its label is for who doesn't see that. */
export function numberIn(
  call: Filling,
  action: string,
  { name, label, at = name, unit }: Pick<Field, "name" | "label" | "at" | "unit">,
): Markup {
  const wrong = wrongOf(call, action, at);
  const id = fieldId(action, name);
  return html`<span class="with-unit"><input id="${id}" name="${name}" type="number" min="0" inputmode="numeric" aria-label="${label}" value="${typed(call, action, name)}"${wrong !== null && html` aria-invalid="true" aria-describedby="${id}-wrong"`}> <span>${unit}</span></span>${
    wrong !== null && html`<span class="wrong small" id="${id}-wrong">${wrong}</span>`
  }`;
}

interface Area extends Labelled {
  rows: number;
  value?: string;
  /** It is typed unseen: nobody is sent it back. */
  secret?: boolean;
  required?: boolean;
  more?: Markup;
}

/** A labelled field of several lines. */
export function area(call: Filling, action: string, asked: Area): Markup {
  const of = asked.secret === true ? retyped(call, action, asked) : asked;
  const { name, rows, value, required, more } = of;
  const text = asked.secret === true ? "" : typed(call, action, name, value);
  // HTML drops a line break that a text begins with.
  return labelled(
    call,
    action,
    of,
    (
      id,
      ties,
    ) => html`<textarea id="${id}" name="${name}" rows="${rows}"${required && html` required`}${ties}${more !== undefined && html` ${more}`}>
${text}</textarea>`,
  );
}

interface Tick {
  name: string;
  words: Piece;
  /** What it sends. */
  value?: string;
  /** Whether it is ticked where the form didn't come back. */
  usual?: boolean;
  hint?: string;
  /** Where the form stands on its page more than once. */
  id?: string;
  required?: boolean;
}

/** Ticked or not. */
export function tick(call: Filling, action: string, of: Tick): Markup {
  const { name, words, value = "on", hint, required = false } = of;
  const { returned, fields } = call;
  const id = of.id ?? fieldId(action, `${name}-${encodeURIComponent(value.toWellFormed())}`);
  const isIn = (form?: URLSearchParams) => form?.getAll(name).includes(value);
  const isOn = returned?.action === action ? isIn(returned.form) : (of.usual ?? isIn(fields));
  const wrong = wrongOf(call, action, name) !== null;
  const box = html`<label class="check" for="${id}"><input type="checkbox" id="${id}" name="${name}" value="${value}"${isOn && html` checked`}${required && html` required`}${wrong && html` aria-invalid="true"`}> ${words}</label>`;
  if (hint === undefined && !wrong) return box;
  return html`<div class="field">${box}${hint !== undefined && html`<p class="hint">${hint}</p>`}${fault(call, action, name)}</div>`;
}

export interface Choice {
  value: string;
  name: string;
}

/** The choices of a `select`. */
export const optionsOf = (choices: readonly Choice[], chosen: string): Markup =>
  html`${choices.map(
    ({ value, name }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  )}`;

interface Select extends Labelled {
  choices: readonly Choice[];
  value?: string;
  required?: boolean;
  short?: boolean;
}

/** A labelled choice of one. What stands there and isn't offered is one more, or saving the form would change it. */
export function select(call: Filling, action: string, of: Select): Markup {
  const { name, required } = of;
  const chosen = typed(call, action, name, of.value);
  const isOffered = chosen === "" || of.choices.some(({ value }) => value === chosen);
  const choices = isOffered ? of.choices : [...of.choices, { value: chosen, name: chosen }];
  return labelled(
    call,
    action,
    of,
    (id, ties) =>
      html`<select id="${id}" name="${name}"${required && html` required`}${ties}>${optionsOf(choices, chosen)}</select>`,
  );
}

/** A choice of one among few, all of them seen. */
export function pills(
  call: Filling,
  action: string,
  of: Pick<Select, "name" | "label" | "hint" | "choices"> & { value: string },
): Markup {
  const { name, label, hint } = of;
  const chosen = typed(call, action, name, of.value);
  return html`<fieldset class="field"><legend>${label}</legend><div class="choices">${of.choices.map(
    (choice) =>
      html`<label><input type="radio" name="${name}" value="${choice.value}"${choice.value === chosen && html` checked`}> ${choice.name}</label>`,
  )}</div>${hint !== undefined && html`<p class="hint">${hint}</p>`}${fault(call, action, name)}</fieldset>`;
}

/** Of one page no two alike: fields of two forms may have one name. */
function fieldId(action: string, name: string): string {
  return `f${action.replaceAll(/[^\w]/g, "-")}-${name}`;
}

/** `webhook_url` → `Webhook address`: a setting's name as a label. */
export function labelOf(name: string): string {
  const words = name.replace(/\burl$|(?<=_)url$/, "address").replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
