import fc from "fast-check";
import { XSS_VECTORS } from "../fixtures/xss.ts";

/** Text made of the pieces that Markdown and HTML are made of. */
export const hostileMarkdown = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...syntax()) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constantFrom(...XSS_VECTORS) },
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

function syntax(): string[] {
  const tags = ["a", "p", "table", "td", "svg", "math", "style", "noscript", "li", "em", "h1", "x"];
  return [
    ...tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag} `]),
    ...[
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
    ],
    ...["> ", "- ", "1. ", "# ", "    ", "\t", "\\", "&", "&#", ";", '"', "'", "=", "href=", " on"],
    ...[
      "https://a.test",
      "javascript:",
      "data:",
      "<!--",
      "-->",
      "<![CDATA[",
      "]]>",
      "\u0000",
      "x ",
    ],
  ];
}
