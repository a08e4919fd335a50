import { parse } from "parse5";
import type { PageAnswer } from "./console.ts";

/** What one finds who follows every link of a site. */
export interface Crawled {
  /** Each address that was asked for, below the base, with its page. */
  pages: Map<string, PageAnswer>;
  /** Links that lead nowhere, each with the page it stands on, and ids that two things have. */
  dead: string[];
  /** Where forms post to, below the base. */
  forms: Set<string>;
}

interface Found {
  links: string[];
  forms: string[];
  ids: Set<string>;
  /** Ids that stand there more than once: a refresh draws the first in the place of the other. */
  twice: string[];
}

interface Element {
  tagName?: string;
  attrs?: { name: string; value: string }[];
  childNodes?: Element[];
  content?: Element;
}

/** Addresses of one shape that are looked at: lists with filters have no end. */
const OF_ONE_SHAPE = 3;

/**
 * Follows every link and every GET form from `start`. `get` takes an address below `base`; all links must begin with `base`.
 */
export async function crawl(
  get: (path: string) => Promise<PageAnswer>,
  start: string,
  base = "",
): Promise<Crawled> {
  const pages = new Map<string, PageAnswer>();
  const found = new Map<string, Found>();
  const [dead, forms, shapes] = [[] as string[], new Set<string>(), new Map<string, number>()];
  const anchors: { on: string; at: string; id: string }[] = [];
  const queue = [{ at: start, on: "" }];
  const below = (on: string, text: string): URL | null => {
    const url = new URL(text, `http://box${base}${on}`);
    if (url.host !== "box") return null;
    if (!url.pathname.startsWith(`${base}/`)) dead.push(`${text} on ${on} is outside of ${base}`);
    return url;
  };
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { at, on } = next;
    if (pages.has(at)) continue;
    const shape = at.replace(/\d+|[0-9a-f]{16}/g, "0").replace(/=[^&]*/g, "=");
    const many = shapes.get(shape) ?? 0;
    if (many >= OF_ONE_SHAPE) continue;
    shapes.set(shape, many + 1);
    const page = await get(at);
    pages.set(at, page);
    const to = page.headers.get("location");
    if (to !== null) {
      queue.push({ at: to.slice(base.length), on: at });
      continue;
    }
    if (page.status !== 200) {
      dead.push(`${at} on ${on}: ${page.status}`);
      continue;
    }
    if (!page.headers.get("content-type")?.startsWith("text/html")) continue;
    const here = readPage(page.text);
    found.set(at, here);
    dead.push(...here.twice.map((id) => `#${id} stands twice on ${at}`));
    for (const text of here.forms) {
      const url = below(at, text);
      if (url !== null) forms.add(url.pathname.slice(base.length));
    }
    for (const text of here.links) {
      const url = below(at, text);
      if (url === null) continue;
      const path = url.pathname.slice(base.length) + url.search;
      if (url.hash.length > 1)
        anchors.push({ on: at, at: path, id: decodeURIComponent(url.hash.slice(1)) });
      queue.push({ at: path, on: at });
    }
  }
  for (const { on, at, id } of anchors)
    if (found.get(at)?.ids.has(id) === false) dead.push(`${at}#${id} on ${on}: no such place`);
  return { pages, dead, forms };
}

function readPage(text: string): Found {
  const found: Found = { links: [], forms: [], ids: new Set(), twice: [] };
  const walk = (element: Element): void => {
    const of = (name: string) => element.attrs?.find((one) => one.name === name)?.value;
    const [href, src, action, id] = [of("href"), of("src"), of("action"), of("id")];
    if (id !== undefined && found.ids.has(id)) found.twice.push(id);
    if (id !== undefined) found.ids.add(id);
    if (href !== undefined) found.links.push(href);
    if (src !== undefined) found.links.push(src);
    if (element.tagName === "form") {
      if (of("method")?.toLowerCase() === "post") found.forms.push(action ?? "");
      else found.links.push(action ?? "");
    }
    for (const child of element.childNodes ?? []) walk(child);
    if (element.content !== undefined) walk(element.content);
  };
  walk(parse(text) as Element);
  return found;
}
