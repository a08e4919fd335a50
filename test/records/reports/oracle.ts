/** Reads pages as a browser would, with parse5, and says what shouldn't be there. */
import { type DefaultTreeAdapterTypes, parse, parseFragment, serialize } from "parse5";
import { CONTENT_TAGS, LINK_REL } from "../../../src/records/reports/render.ts";

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;

const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
const TAGS: ReadonlySet<string> = new Set(CONTENT_TAGS);

/** For each attribute of each tag, what its value must look like. Nothing else is allowed. */
const ATTRIBUTES: Record<string, Record<string, RegExp>> = {
  a: { href: /^(?:https?:\/\/|mailto:)/i, title: /^/, rel: new RegExp(`^${LINK_REL}$`) },
  ol: { start: /^\d{1,9}$/ },
  th: { align: /^(?:left|center|right)$/ },
  td: { align: /^(?:left|center|right)$/ },
};

/** Everything in rendered content that isn't on the list. */
export function contentFaults(html: string): string[] {
  return elements(parseFragment(html)).flatMap(elementFaults);
}

function elementFaults(element: Element): string[] {
  const { tagName, namespaceURI, attrs } = element;
  const faults = TAGS.has(tagName) && namespaceURI === HTML_NAMESPACE ? [] : [`<${tagName}>`];
  for (const { name, value } of attrs) {
    if (ATTRIBUTES[tagName]?.[name]?.test(value) !== true) {
      faults.push(`<${tagName} ${name}=${JSON.stringify(value)}>`);
    }
  }
  if (tagName === "a" && attrs.length > 0 && !attrs.some(({ name }) => name === "rel")) {
    faults.push("<a> without rel");
  }
  return faults;
}

export interface ReadPage {
  /** The page's own elements, in source form, with all text and every entry's content taken out. */
  skeleton: string;
  /** What is wrong within the entries' content. */
  faults: string[];
  /** The text of the page's title, heading and entry headings, in that order. */
  headings: string[];
}

/** A whole page, taken apart into what is ours and what the writer put in. */
export function readPage(body: string): ReadPage {
  const document = parse(body);
  const faults: string[] = [];
  const headings: string[] = [];
  for (const element of elements(document)) {
    if (isContent(element)) {
      faults.push(...elements(element).slice(1).flatMap(elementFaults));
      element.childNodes = [];
    } else if (["title", "h1", "h3"].includes(element.tagName)) {
      headings.push(textOf(element));
    }
  }
  emptyTexts(document);
  return { skeleton: serialize(document), faults, headings };
}

function isContent({ attrs }: Element): boolean {
  return attrs.some(({ name, value }) => name === "class" && value === "content");
}

/** An element that was taken out of the tree in the meantime is still listed: collect first. */
function elements(node: Node): Element[] {
  const own = "tagName" in node ? [node] : [];
  return "childNodes" in node ? [...own, ...node.childNodes.flatMap(elements)] : own;
}

export function textOf(node: Node): string {
  if (node.nodeName === "#text" && "value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

function emptyTexts(node: Node): void {
  if (!("childNodes" in node)) return;
  node.childNodes = node.childNodes.filter((child) => child.nodeName !== "#text");
  for (const child of node.childNodes) emptyTexts(child);
}
