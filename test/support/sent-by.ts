import { type DefaultTreeAdapterTypes, parse } from "parse5";

type Element = DefaultTreeAdapterTypes.Element;

function* elements(node: DefaultTreeAdapterTypes.ParentNode): Generator<Element> {
  for (const child of node.childNodes)
    if ("childNodes" in child) {
      if ("tagName" in child) yield child;
      yield* elements(child);
    }
}

const attr = (element: Element, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value;
const textIn = (element: Element): string =>
  element.childNodes
    .map((child) => ("value" in child ? child.value : "tagName" in child ? textIn(child) : ""))
    .join("");

/** What a browser sends of the fields of a page: successful controls in the order of the page, line breaks as it writes them. */
export function sentBy(page: string): URLSearchParams {
  const sent = new URLSearchParams();
  const put = (name: string, value: string) =>
    sent.append(name, value.replace(/\r\n|\r|\n/g, "\r\n"));
  for (const element of elements(parse(page))) {
    const name = attr(element, "name");
    if (name === undefined) continue;
    const type = attr(element, "type");
    if (element.tagName === "textarea") put(name, textIn(element));
    if (element.tagName === "select")
      for (const option of elements(element))
        if (option.tagName === "option" && attr(option, "selected") !== undefined)
          put(name, attr(option, "value") ?? "");
    if (element.tagName !== "input") continue;
    const isBox = type === "checkbox" || type === "radio";
    if (isBox && attr(element, "checked") === undefined) continue;
    const value = attr(element, "value") ?? "";
    // A field of one line can't hold a line break.
    put(name, isBox || type === "hidden" ? value : value.replace(/[\r\n]/g, ""));
  }
  return sent;
}

/** The form that takes back what a page says was done. */
export const undoOf = (text: string) => {
  const form = /<output[\s\S]*?action="([^"]+)"([\s\S]*?)<\/output>/.exec(text);
  const fields = [...(form?.[2] ?? "").matchAll(/name="([^"]+)" value="([^"]*)"/g)];
  return {
    action: form?.[1] ?? "",
    fields: fields.map(([, a = "", b = ""]) => [a, b] as [string, string]),
  };
};
