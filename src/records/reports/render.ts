import { micromark } from "micromark";
import { gfmStrikethrough, gfmStrikethroughHtml } from "micromark-extension-gfm-strikethrough";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";
import sanitizeHtml from "sanitize-html";

/** The tags that rendered content may contain (contract §8). No images: they reveal readers' addresses. */
export const CONTENT_TAGS = [
  "h4",
  "h5",
  "h6",
  "p",
  "br",
  "hr",
  "em",
  "strong",
  "del",
  "code",
  "pre",
  "blockquote",
  "ul",
  "ol",
  "li",
  "a",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
] as const;

/** The schemes of links in rendered content. */
const LINK_SCHEMES = ["http", "https", "mailto"] as const;

/** On every link: hides readers' addresses, and search engines don't count it. */
export const LINK_REL = "nofollow noopener noreferrer";

/** A tag deeper than this is dropped; its text stays. */
const DEEPEST = 32;

/** The first level of headings in an entry: the page has the h1, a section the h2, an entry the h3. */
const ENTRY_HEADING = 3;

const LINK = /^(?:https?:\/\/|mailto:)[^\s]/i;
const LIST_START = /^\d{1,9}$/;
const ALIGNMENT = /^(?:left|center|right)$/;

export interface RenderHow {
  /** Raw HTML is shown as text; otherwise it is removed. */
  rawAsText?: boolean;
  /** Collects what was left out: `image` (it became a link), `<script>`, `link` (a link without a valid address). */
  dropped?: Set<string>;
}

/**
 * Markdown (CommonMark with GFM tables and strikethrough) as safe HTML. Pure, but slow on hostile texts: call it in the
 * renderer's thread. The sanitizer removes raw HTML; with `rawAsText` it is shown as text. An image becomes a link.
 */
export function renderMarkdown(
  markdown: string,
  { rawAsText = false, dropped = new Set() }: RenderHow = {},
): string {
  const rendered = micromark(markdown, {
    allowDangerousHtml: !rawAsText,
    extensions: [gfmTable(), gfmStrikethrough(), { disable: { null: ["labelStartImage"] } }],
    htmlExtensions: [gfmTableHtml(), gfmStrikethroughHtml()],
  });
  // An image of Markdown became this.
  if (rendered.includes("!<a ")) dropped.add("image");
  return sanitizeHtml(rendered, sanitizing(dropped)).trim();
}

const KEPT_TAGS: ReadonlySet<string> = new Set([...CONTENT_TAGS, "h1", "h2", "h3"]);
/** Hostile texts have many kinds of tags. */
const MOST_DROPPED = 20;

/** The sanitizer's settings for one text. They keep the text's open headings and links. */
function sanitizing(dropped: Set<string>): sanitizeHtml.IOptions {
  const drop = (what: string) => {
    if (dropped.size < MOST_DROPPED) dropped.add(what);
  };
  const heading = headingLevels();
  const headings = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((level) => [
      `h${level}`,
      () => ({ tagName: `h${heading(level)}`, attribs: {} }),
    ]),
  );
  let openLinks = 0;
  return {
    allowedTags: [...CONTENT_TAGS],
    allowedAttributes: {
      a: ["href", "title", "rel"],
      ol: ["start"],
      th: ["align"],
      td: ["align"],
    },
    allowedSchemes: [...LINK_SCHEMES],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    nestingLimit: DEEPEST,
    // Their content isn't text for readers, so it is removed with the tag.
    nonTextTags: ["script", "style", "textarea", "option", "noscript", "xmp", "title", "template"],
    onOpenTag: (name) => {
      if (name === "img") drop("image");
      else if (!KEPT_TAGS.has(name)) drop(`<${name.slice(0, 32)}>`);
      if (name === "a") openLinks += 1;
    },
    onCloseTag: (name) => {
      if (name === "a") openLinks -= 1;
    },
    transformTags: {
      ...headings,
      a: (tagName, { href, title }) => ({ tagName, attribs: link(openLinks, href, title) }),
      ol: (tagName, { start }) => ({ tagName, attribs: listed("start", start, LIST_START) }),
      th: (tagName, { align }) => ({ tagName, attribs: listed("align", align, ALIGNMENT) }),
      td: (tagName, { align }) => ({ tagName, attribs: listed("align", align, ALIGNMENT) }),
    },
    // Of a link without a valid address only the text stays.
    exclusiveFilter: ({ tag, attribs }) => {
      if (tag !== "a" || attribs["href"] !== undefined) return false;
      drop("link");
      return "excludeTag";
    },
  };
}

/** A link's attributes; none where its address isn't absolute, or inside another link. */
function link(open: number, href = "", title = ""): Record<string, string> {
  if (open > 1 || !LINK.test(href)) return {};
  return title === "" ? { href, rel: LINK_REL } : { href, title, rel: LINK_REL };
}

/** The attribute if its value has the right form, else none. */
function listed(name: string, value: string | undefined, form: RegExp): Record<string, string> {
  return value !== undefined && form.test(value) ? { [name]: value } : {};
}

/**
 * Maps a text's heading levels to levels below an entry's heading, without gaps downwards, so that readers who navigate
 * by headings don't get lost.
 */
function headingLevels(): (level: number) => number {
  const open: number[] = [];
  return (level) => {
    while (open.length > 0 && (open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    return Math.min(ENTRY_HEADING + open.length, 6);
  };
}
