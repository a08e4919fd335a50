/* Pages that the worker draws itself, in the frame of all others. Pure. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as markup, also inside of attributes. */
export const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

/** The policy of the box's own pages, word for word. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types box",
].join("; ");

export const DRAWN_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Where the box is, and its files. */
export interface DrawnPlace {
  /** "" or "/box". */
  base: string;
  hash: string;
  /** Browser's clock, unix milliseconds. */
  now: number;
  zone: string;
}

const icon = (path: string): string =>
  `<svg class="i" viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;

/** `bar` and `main` are markup, `title` is text. */
export function drawnPage(
  { base, hash, now, zone }: DrawnPlace,
  { title, bar, main }: { title: string; bar: string; main: string },
): string {
  const file = (name: string) => `${base}/assets/${hash}/${name}`;
  return `<!doctype html>
<html lang="en" data-theme="system" data-rows="comfortable" data-keys="on" data-zone="${escapeText(zone)}" data-now="${now}" data-base="${base}" data-who="" data-drawn>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)} · box</title>
<link rel="icon" type="image/svg+xml" href="${file("icon.svg")}">
<link rel="stylesheet" href="${file("console.css")}">
<script type="module" src="${file("console.js")}"></script>
</head>
<body class="frame">
<a class="skip" href="#main">To the content</a>
<nav class="nav" aria-label="Main">
<a class="nav-item" href="${base}/alerts" data-key="g a">${icon("M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 21h4")}<span>Alerts</span></a>
<a class="nav-item" href="${base}/oncall" data-key="g o">${icon("M6 5h12a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM4 10h16M8.5 3v4M15.5 3v4")}<span>On call</span></a>
</nav>
<div id="bar" class="bar" data-live="system" role="status">${bar}</div>
<div class="main">
<main id="main" tabindex="-1">
${main}
</main>
<output id="said" class="said" role="status" aria-live="polite"></output>
</div>
</body>
</html>
`;
}

/** What is told where a page isn't kept; `kept`: those that are, their titles as markup, as they stand in them. */
export function notKept(kept: readonly { address: string; title: string; asOf: string }[]) {
  const items = kept.map(
    ({ address, title, asOf }) =>
      `<li><a href="${escapeText(address)}">${title}</a> <span class="soft">as of ${escapeText(asOf)}</span></li>`,
  );
  const list =
    items.length > 0
      ? `<p>What this browser has kept:</p>\n<ul>${items.join("\n")}</ul>`
      : "<p>This browser has kept no page yet.</p>";
  return {
    title: "Not kept offline",
    main: `<header class="top"><h1>Not kept offline</h1></header>
<p>The box can’t be reached, and this page isn’t among those that are kept for it.</p>
${list}`,
  };
}
