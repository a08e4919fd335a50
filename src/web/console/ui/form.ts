import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";

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

export interface Field {
  name: string;
  label: string;
  value?: string;
  type?: "text" | "email" | "password" | "number" | "url" | "datetime-local" | "search";
  hint?: string;
  required?: boolean;
  /** For password managers and phones' keyboards. */
  autocomplete?: string;
  /** Further attributes, made by `html`. */
  more?: Markup;
}

/** What a form's field holds: what was typed where the form came back, else `value`. */
export function typed(
  call: Pick<PageCall, "returned">,
  action: string,
  name: string,
  value = "",
): string {
  const { returned } = call;
  return returned?.action === action ? (returned.form.get(name) ?? "") : value;
}

/** Whether a box is ticked: as it came back with its form, else `usual`. */
export function ticked(
  { returned }: Pick<PageCall, "returned">,
  action: string,
  { name, value, usual = false }: { name: string; value: string; usual?: boolean },
): Piece {
  const isBack = returned?.action === action;
  return (isBack ? returned.form.getAll(name).includes(value) : usual) && html` checked`;
}

/** What stands at a secret that was typed before its form came back: nobody is sent it, and it isn't left out by mistake. */
export const AGAIN = "Type it again: it isn’t sent back.";

/** Whether a secret was typed and has to be typed again. */
export const mustRetype = (
  call: Pick<PageCall, "returned">,
  action: string,
  name: string,
): boolean => typed(call, action, name) !== "";

/** Why a field wasn't taken; null where it was. `/name` and `?name` in the errors of the interface. */
export function wrongOf(
  { returned }: Pick<PageCall, "returned">,
  action: string,
  name: string,
): string | null {
  if (returned?.action !== action) return null;
  const found = returned.error.details.find(
    ({ field = "" }) =>
      field === `/${name}` || field === `?${name}` || field.startsWith(`/${name}/`),
  );
  return found === undefined ? null : found.reason;
}

/** A labelled field of the form at `action`, with what is wrong with it. */
export function field(call: Pick<PageCall, "returned">, action: string, of: Field): Markup {
  const { name, label, type = "text", autocomplete, more } = of;
  const isAgain = type === "password" && mustRetype(call, action, name);
  const required = of.required === true || isAgain;
  const hint = isAgain ? [AGAIN, of.hint].filter(Boolean).join(" ") : of.hint;
  const wrong = wrongOf(call, action, name);
  const value = type === "password" ? "" : typed(call, action, name, of.value);
  const id = fieldId(action, name);
  const described = [hint !== undefined && `${id}-hint`, wrong !== null && `${id}-wrong`].filter(
    Boolean,
  );
  return html`<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${value}"${required && html` required`}${
    autocomplete !== undefined && html` autocomplete="${autocomplete}"`
  }${described.length > 0 && html` aria-describedby="${described.join(" ")}"`}${
    wrong !== null && html` aria-invalid="true"`
  }${more !== undefined && html` ${more}`}>
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}${
  wrong !== null && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`
}</div>`;
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

/** A labelled choice of one. What stands there and isn't offered is one more, or saving the form would change it. */
export function select(
  call: Pick<PageCall, "returned">,
  action: string,
  of: Pick<Field, "name" | "label" | "value" | "hint" | "required"> & {
    choices: readonly Choice[];
  },
): Markup {
  const { name, label, hint, required = false } = of;
  const chosen = typed(call, action, name, of.value);
  const isOffered = chosen === "" || of.choices.some(({ value }) => value === chosen);
  const choices = isOffered ? of.choices : [...of.choices, { value: chosen, name: chosen }];
  const wrong = wrongOf(call, action, name);
  const id = fieldId(action, name);
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}"${required && html` required`}${wrong !== null && html` aria-invalid="true"`}>${optionsOf(choices, chosen)}</select>
${hint !== undefined && html`<p class="hint">${hint}</p>`}${wrong !== null && html`<p class="wrong">${wrong}</p>`}</div>`;
}

/** A choice of one among few, all of them seen. */
export function pills(
  call: Pick<PageCall, "returned">,
  action: string,
  of: { name: string; label: string; choices: readonly Choice[]; value: string; hint?: string },
): Markup {
  const { name, label, hint } = of;
  const chosen = typed(call, action, name, of.value);
  const wrong = wrongOf(call, action, name);
  return html`<fieldset class="field"><legend>${label}</legend><div class="choices">${of.choices.map(
    (choice) =>
      html`<label><input type="radio" name="${name}" value="${choice.value}"${choice.value === chosen && html` checked`}> ${choice.name}</label>`,
  )}</div>${hint !== undefined && html`<p class="hint">${hint}</p>`}${wrong !== null && html`<p class="wrong">${wrong}</p>`}</fieldset>`;
}

/** Of one page no two alike: fields of two forms may have one name. */
export function fieldId(action: string, name: string): string {
  return `f${action.replaceAll(/[^\w]/g, "-")}-${name}`;
}

/** `webhook_url` → `Webhook address`: a setting's name as a label. */
export function labelOf(name: string): string {
  const words = name.replace(/\burl$|(?<=_)url$/, "address").replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
