import { type DefaultTreeAdapterTypes, parse } from "parse5";

type Element = DefaultTreeAdapterTypes.Element;

/** One field of a form, as a page shows it. */
export interface Control {
  name: string;
  /** Tells it from the others of its form. */
  key: string;
  /** An input's type; `box` for a checkbox, `pick` for one that selects a row, `select`, `textarea`. */
  kind: string;
  /** What it would send; null: nothing. */
  value: string | null;
  /** What a ticked one sends. */
  box: string;
  /** What a list offers. */
  options: string[];
  isRequired: boolean;
}

export interface FormOnPage {
  action: string;
  /** With those of its buttons. */
  actions: string[];
  controls: Control[];
}

function* elements(node: DefaultTreeAdapterTypes.ParentNode): Generator<Element> {
  for (const child of node.childNodes)
    if ("tagName" in child) {
      yield child;
      yield* elements(child);
    }
}

const attr = (element: Element, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value;
const textIn = (element: Element): string =>
  element.childNodes.map((child) => ("value" in child ? child.value : "")).join("");

/** The forms of a page that are posted, each with its fields, wherever they stand. */
export function formsOn(page: string): FormOnPage[] {
  const all = [...elements(parse(page))];
  return all
    .filter((one) => one.tagName === "form" && attr(one, "method") === "post")
    .map((form) => {
      const inside = new Set(elements(form));
      const id = attr(form, "id");
      const own = all.filter((one) => {
        const of = attr(one, "form");
        return of === undefined ? inside.has(one) : of === id;
      });
      const action = attr(form, "action") ?? "";
      const buttons = own.flatMap((one) => attr(one, "formaction")?.replace(/#.*/, "") ?? []);
      const controls = own.flatMap((one) => controlOf(one) ?? []);
      return { action, actions: [action, ...buttons], controls };
    });
}

function controlOf(element: Element): Control | null {
  const { tagName } = element;
  const name = attr(element, "name");
  if (name === undefined || !["input", "textarea", "select"].includes(tagName)) return null;
  if (["disabled", "readonly", "hidden"].some((one) => attr(element, one) !== undefined))
    return null;
  const control = {
    name,
    key: attr(element, "id") ?? name,
    box: "",
    options: [] as string[],
    isRequired: attr(element, "required") !== undefined,
  };
  if (tagName === "textarea") return { ...control, kind: tagName, value: textIn(element) };
  if (tagName === "select") {
    const options = [...elements(element)].filter((one) => one.tagName === "option");
    const chosen = options.find((one) => attr(one, "selected") !== undefined) ?? options[0];
    const sends = (one: Element) => attr(one, "value") ?? textIn(one);
    const value = chosen === undefined ? null : sends(chosen);
    return { ...control, kind: tagName, value, options: options.map(sends) };
  }
  const type = attr(element, "type") ?? "text";
  const value = attr(element, "value") ?? "";
  if (type !== "checkbox" && type !== "radio") return { ...control, kind: type, value };
  const kind = type === "radio" ? type : attr(element, "form") === "bulk" ? "pick" : "box";
  const isOn = attr(element, "checked") !== undefined;
  const box = attr(element, "value") ?? "on";
  return { ...control, key: `${name}=${box}`, kind, box, value: isOn ? box : null };
}
