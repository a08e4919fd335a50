import { html, type Markup } from "../../ground/kit/html.ts";
import { subscriptionIds } from "../../out/contacts/subscriptions.ts";
import { bar } from "./bar.ts";
import { flashLine } from "./flash.ts";
import type { FormDone, NavId, PageCall } from "./screen.ts";
import { exact } from "./ui/times.ts";

/** Where the style sheet, the script and the icon are. */
export interface Files {
  style: string;
  script: string;
  /** Named by every page: browsers ask for one at an address of their own else. */
  icon: string;
  /** A script that single pages have besides, by its name in `src/web/browser/pages`. */
  own(name: string): string;
}

interface Entry {
  id: NavId;
  name: string;
  path: string;
  key: string;
}

/** The first four stand at the bottom of a phone, the others behind *More*; at a desk all stand in one column. */
const ENTRIES: readonly Entry[] = [
  { id: "alerts", name: "Alerts", path: "/alerts", key: "g a" },
  { id: "oncall", name: "On-call", path: "/oncall", key: "g o" },
  { id: "search", name: "Search", path: "/search", key: "/" },
  { id: "projects", name: "Projects", path: "/p", key: "g p" },
  { id: "silences", name: "Silences", path: "/silences", key: "g q" },
  { id: "heartbeats", name: "Heartbeats", path: "/heartbeats", key: "g h" },
  { id: "people", name: "People", path: "/people", key: "g u" },
  { id: "system", name: "System", path: "/system", key: "g s" },
  { id: "me", name: "Me", path: "/me", key: "g m" },
];
const AT_HAND = 4;

export interface Shell {
  title: string;
  nav: NavId;
  heading: Markup | null;
  main: Markup;
  said: Pick<FormDone, "said" | "undo"> | null;
  /** The last change that it may show; absent where nothing on it changes. */
  since?: string;
  /** In place of what was done: why it wasn't. */
  refused?: Markup;
  /** A script that only this page has. */
  script?: string | undefined;
}

/** A whole page: what stands around every screen. `paths`: the screens there are, so that nothing leads nowhere. */
export function shell(
  call: PageCall,
  page: Shell,
  files: Files,
  paths: ReadonlySet<string>,
): string {
  const { base, look } = call;
  const now = Math.floor(call.tenant.clock.now());
  return document(
    {
      title: page.title,
      base,
      look,
      now,
      files,
      who: call.who.accountId,
      devices: subscriptionIds(call.tenant.store, call.who.accountId),
      body: "frame",
      since: page.since,
      script: page.script,
    },
    html`<a class="skip" href="#main">To the content</a>
${bar(call)}
${navigation(page.nav, base, paths)}
<div class="main">
${page.heading !== null && html`<header class="top"><h1>${page.heading}</h1></header>`}
<main id="main" tabindex="-1">
${page.main}
<p class="paper">${call.origin}${call.at} · printed as of ${exact(call.now, look.zone)}</p>
</main>
${page.refused ?? flashLine(page.said, base)}
</div>`,
  );
}

function navigation(here: NavId, base: string, paths: ReadonlySet<string>): Markup {
  const entries = ENTRIES.filter(({ path }) => paths.has(path));
  const current = (id: NavId) => id === here && html` aria-current="page"`;
  const palette = (id: NavId) => id === "search" && html` data-palette`;
  const item = ({ id, name, path, key }: Entry, wide: boolean) =>
    html`<a class="nav-item${wide && " nav-wide"}" href="${base}${path}" data-key="${key}" title="${name} (${key})"${current(id)}${palette(id)}><span>${name}</span></a>
`;
  const rest = entries.slice(AT_HAND);
  return html`<nav class="nav" aria-label="Main">
${entries.map((entry, at) => item(entry, at >= AT_HAND))}
${
  rest.length > 0 &&
  html`<details class="menu nav-narrow" id="nav-more"><summary class="nav-item">More</summary><div class="menu-items">${rest.map(
    ({ id, name, path }) => html`<a href="${base}${path}"${current(id)}>${name}</a>`,
  )}</div></details>`
}
</nav>`;
}

export interface DocumentHead {
  title: string;
  base: string;
  look: PageCall["look"];
  /** Unix milliseconds, as it is sent: what countdowns go by, since a browser's clock may be wrong. */
  now: number;
  files: Files;
  /** The account, so that what a browser kept of another's isn't shown; empty before signing in. */
  who: string;
  /** Ids of their browsers that are pushed to, so that one that is none of them any more can say so. */
  devices?: readonly string[];
  /** `frame`, or `frame alone`: one narrow column without navigation. */
  body: "frame" | "frame alone";
  /** Where the stream of changes goes on. */
  since?: string | undefined;
  /** A script that only this page has. */
  script?: string | undefined;
}

const PAPER = { light: "#fbfaf8", dark: "#14171a" } as const;

/** What a phone draws around an installed page: paper, as the style sheet has it. */
function themeColours({ theme }: PageCall["look"]): Markup {
  if (theme !== "system") return html`<meta name="theme-color" content="${PAPER[theme]}">`;
  return html`<meta name="theme-color" content="${PAPER.light}" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="${PAPER.dark}" media="(prefers-color-scheme: dark)">`;
}

export const documentTitle = (title: string): string => `${title} · box`;

/** The frame of every document, signed in or not. */
export function document(head: DocumentHead, body: Markup): string {
  const { title, base, look, now, files } = head;
  return html`<!doctype html>
<html lang="en" data-theme="${look.theme}" data-rows="${look.rows}" data-keys="${look.keys ? "on" : "off"}" data-zone="${look.zone}" data-now="${now}" data-base="${base}" data-who="${head.who}"${head.devices !== undefined && html` data-devices="${head.devices.join(" ")}"`}${head.since !== undefined && html` data-since="${head.since}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow, noarchive">
<title>${documentTitle(title)}</title>
<link rel="icon" type="image/svg+xml" href="${base}${files.icon}">
<link rel="manifest" href="${base}/manifest.webmanifest">
${themeColours(look)}
<link rel="stylesheet" href="${base}${files.style}">
<script type="module" src="${base}${files.script}"></script>${
    head.script !== undefined &&
    html`
<script type="module" src="${base}${files.own(head.script)}"></script>`
  }
</head>
<body class="${head.body}">
${body}
</body>
</html>
`.markup;
}
