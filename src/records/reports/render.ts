import { micromark } from "micromark";
import { gfmStrikethrough, gfmStrikethroughHtml } from "micromark-extension-gfm-strikethrough";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";
import sanitizeHtml from "sanitize-html";

/** The tags that rendered content may hold (contract §8). No images: they would leak readers' addresses. */
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

/** The schemes that a link in rendered content may have. */
export const LINK_SCHEMES = ["http", "https", "mailto"] as const;

/** What every link carries: no reader's address leaks and no search engine is fed. */
export const LINK_REL = "nofollow noopener noreferrer";

/** Deeper than this a tag is dropped and its text kept. */
const DEEPEST = 32;

/** Content stands under a page's h1, a section's h2 and an entry's h3. */
const ENTRY_HEADING = 3;

const LINK = /^(?:https?:\/\/|mailto:)[^\s]/i;
const LIST_START = /^\d{1,9}$/;
const ALIGNMENT = /^(?:left|center|right)$/;

export interface RenderHow {
  /** Raw HTML stands as the text that it is; else it goes. */
  rawAsText?: boolean;
  /** Told what was left out: `image` (it became a link), `<script>`, `link` for one that leads nowhere. */
  dropped?: Set<string>;
}

/**
 * Markdown (CommonMark with GFM tables and strikethrough) as clean HTML. Pure, and slow on hostile
 * input: run it in the renderer's worker. Raw HTML is let through to the sanitizer on purpose, which
 * removes it; with `rawAsText` it stands as text. An image becomes a link to it, which the reader may
 * follow or not.
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
  // What an image of Markdown's became.
  if (rendered.includes("!<a ")) dropped.add("image");
  return sanitizeHtml(rendered, sanitizing(dropped)).trim();
}

const KEPT_TAGS: ReadonlySet<string> = new Set([...CONTENT_TAGS, "h1", "h2", "h3"]);
/** Hostile texts have many kinds of tags. */
const MOST_DROPPED = 20;

/** The sanitizer's settings for one text: it keeps the open headings and links of that text. */
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
    // Their text is no prose: it goes with the tag.
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
    // A link that leads nowhere leaves only its text.
    exclusiveFilter: ({ tag, attribs }) => {
      if (tag !== "a" || attribs["href"] !== undefined) return false;
      drop("link");
      return "excludeTag";
    },
  };
}

/** A link's attributes; none for one that isn't absolute, or that stands within another link. */
function link(open: number, href = "", title = ""): Record<string, string> {
  if (open > 1 || !LINK.test(href)) return {};
  return title === "" ? { href, rel: LINK_REL } : { href, title, rel: LINK_REL };
}

/** The attribute if its value has the form it must have, else none. */
function listed(name: string, value: string | undefined, form: RegExp): Record<string, string> {
  return value !== undefined && form.test(value) ? { [name]: value } : {};
}

/**
 * Maps a text's own heading levels to levels under an entry's heading, never skipping one on the way
 * down, so that a reader who moves by headings isn't lost whatever level the writer began with.
 */
function headingLevels(): (level: number) => number {
  const open: number[] = [];
  return (level) => {
    while (open.length > 0 && (open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    return Math.min(ENTRY_HEADING + open.length, 6);
  };
}
