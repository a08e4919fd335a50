const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
};
/** Elements that begin a new line. */
const LINES = new Set("br p div tr li ul ol table h1 h2 h3 h4 h5 h6 hr pre blockquote".split(" "));
/** Elements that don't separate words. All others do, with those of XML. */
const INLINE = new Set("a abbr b big em font i mark s small span strong sub sup tt u".split(" "));
/** Elements whose content isn't shown. */
const UNSEEN = new Set(["script", "style", "head"]);

/** Characters of HTML that are read: many times what an event holds. */
const MOST = 1024 * 1024;

/** The readable text of HTML, in one pass, whatever the bytes. A text that is too long is cut. */
export function htmlText(whole: string): string {
  const html = whole.slice(0, MOST);
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    parts.push(html.slice(at, open));
    const [text, next] = element(html, open);
    parts.push(text);
    at = next;
  }
  parts.push(html.slice(at));
  return tidy(unescaped(parts.join("")));
}

/** The effect of the tag at `open`, and the position after it. */
function element(html: string, open: number): [string, number] {
  if (html.startsWith("<!--", open)) {
    const end = html.indexOf("-->", open);
    return ["", end === -1 ? html.length : end + 3];
  }
  const [, slash = "", name = ""] = /^<(\/?)([A-Za-z][A-Za-z0-9]{0,15})/.exec(
    html.slice(open, open + 20),
  ) ?? [undefined, "", ""];
  if (name === "" && html[open + 1] !== "!" && html[open + 1] !== "?") return ["<", open + 1];
  const close = html.indexOf(">", open);
  if (close === -1) return ["", html.length];
  const tag = name.toLowerCase();
  if (slash === "" && UNSEEN.has(tag)) return ["", endOf(html, close + 1, tag)];
  return [LINES.has(tag) ? "\n" : INLINE.has(tag) ? "" : " ", close + 1];
}

/** The position after the end tag. Without an end tag the rest is hidden, as in a browser. */
function endOf(html: string, from: number, tag: string): number {
  for (let at = html.indexOf("</", from); at !== -1; at = html.indexOf("</", at + 2)) {
    if (html.slice(at + 2, at + 2 + tag.length).toLowerCase() !== tag) continue;
    const close = html.indexOf(">", at);
    return close === -1 ? html.length : close + 1;
  }
  return html.length;
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,5}));/g, (whole, ...of) => {
    const [decimal, hex, name] = of as (string | undefined)[];
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? "") : whole;
    const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

/** Trims lines, and keeps at most one empty line between two. */
function tidy(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const words = line.split(/[ \t\r\f]/).filter((word) => word !== "");
    if (words.length > 0 || (lines.length > 0 && lines.at(-1) !== "")) lines.push(words.join(" "));
  }
  return lines.join("\n").trim();
}
