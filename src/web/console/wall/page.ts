import { html, type Markup, trusted } from "../../../ground/kit/html.ts";
import { sourceOf } from "../../../ground/page/style.ts";
import type { RawDocument } from "../screen.ts";
import type { Files } from "../shell.ts";
import { WALL_STYLE } from "./style.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src ${sourceOf(WALL_STYLE)}`,
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types box",
].join("; ");

/** Its address is the secret: it goes nowhere, and nobody keeps the page. */
const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "X-Robots-Tag": "noindex, nofollow, noarchive",
};

export interface WallPage {
  base: string;
  files: Files;
  /** As the address wants it; else by the screen's own setting. */
  theme: "light" | "dark" | null;
  /** Where its script goes on asking. */
  since: string;
  /** The box's clock, Unix milliseconds. */
  now: number;
  clock: Markup;
  main: Markup;
}

/** All of the wall, as a screen loads it; without a script it loads itself again. */
export function wallPage({ base, files, theme, since, now, clock, main }: WallPage): RawDocument {
  return {
    status: 200,
    headers: HEADERS,
    body: document(
      { base, files },
      html`<html lang="en"${theme !== null && html` data-theme="${theme}"`} data-since="${since}" data-now="${now}" data-files="${files.script}">`,
      html`<noscript><meta http-equiv="refresh" content="30"></noscript>
<script type="module" src="${base}${files.own("wall")}"></script>`,
      html`<p id="down" class="down" role="alert"></p>
<header id="clock">${clock}</header>
<main id="main">${main}</main>`,
    ),
  };
}

interface PartOf extends Pick<WallPage, "files" | "now"> {
  /** Where it goes on. */
  next: string;
  etag: string;
}

/** What its script asks for: the inside of the wall. */
export function wallPart(main: Markup, of: PartOf): RawDocument {
  return {
    status: 200,
    headers: { ...HEADERS, ...partHeaders(of) },
    body: main.markup,
  };
}

/** The same where nothing changed. */
export const unchangedWall = (of: PartOf): RawDocument => ({
  status: 304,
  body: "",
  headers: { ...HEADERS, ...partHeaders(of) },
});

/** With other files the page is another, and loads itself anew. */
const partHeaders = ({ files, now, next, etag }: PartOf) => ({
  "X-Now": String(now),
  "X-Next": next,
  "X-Files": files.script,
  ETag: etag,
});

/** One page for a link that never was one, and for one that is revoked. `waitSeconds`: too many were tried. */
export function noWall(
  of: { base: string; files: Files },
  waitSeconds: number | null = null,
): RawDocument {
  const words =
    waitSeconds === null
      ? html`<p class="what">This link shows nothing.</p><p class="about">This link was revoked or never existed. Owners and admins make links under System.</p>`
      : html`<p class="what">Too many tries.</p><p class="about">Try again in ${waitSeconds} seconds.</p>`;
  return {
    status: waitSeconds === null ? 404 : 429,
    headers: {
      ...HEADERS,
      ...(waitSeconds !== null && { "Retry-After": String(waitSeconds) }),
    },
    body: document(of, html`<html lang="en">`, null, html`<main id="main">${words}</main>`),
  };
}

function document(
  { base, files }: { base: string; files: Files },
  root: Markup,
  head: Markup | null,
  body: Markup,
): string {
  return html`<!doctype html>
${root}
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow, noarchive">
<title>Wall · box</title>
<link rel="icon" type="image/svg+xml" href="${base}${files.icon}">
<style>${trusted(WALL_STYLE)}</style>
${head}
</head>
<body>
${body}
</body>
</html>
`.markup;
}
