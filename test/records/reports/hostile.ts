import { XSS_VECTORS } from "../../fixtures/xss.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** Text made of the pieces that Markdown and HTML are made of. */
export const hostileMarkdown = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...syntax()) },
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constantFrom(...XSS_VECTORS) },
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

function syntax(): string[] {
  const kept = [
    "p",
    "table",
    "tbody",
    "tr",
    "td",
    "ul",
    "li",
    "em",
    "code",
    "pre",
    "h1",
    "blockquote",
  ];
  const dropped = ["svg", "math", "style", "noscript", "x"];
  const tags = ["a", ...kept, ...dropped];
  return [
    ...tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag} `]),
    "[",
    "](",
    ")",
    "![",
    "]:",
    "<",
    ">",
    "`",
    "```\n",
    "*",
    "_",
    "~~",
    "|",
    "|-|",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "# ",
    "    ",
    "\t",
    "\\",
    "&",
    "&#",
    ";",
    '"',
    "'",
    "=",
    "href=",
    " on",
    "https://a.test",
    "javascript:",
    "data:",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "\u0000",
    "x ",
  ];
}
