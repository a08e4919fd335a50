import { html, type Markup, type Piece, trusted } from "../kit/html.ts";

export const HTML_TYPE = "text/html; charset=utf-8";

export interface Frame {
  title: string;
  style: string;
  /** Placed in the head, before the style sheet. */
  head?: Piece;
  main: Markup;
  footer?: Piece;
  /** Runs after the page has loaded. */
  script?: string;
}

/** The HTML around every page. */
export function framed({ title, style, head, main, footer, script }: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow, noarchive">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
${head}<style>${trusted(style)}</style>
</head>
<body>
<main>
${main}
</main>
${footer}${script !== undefined && html`<script>${trusted(script)}</script>`}
</body>
</html>
`.markup;
}
