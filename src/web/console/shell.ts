import { countOpen } from "../../core/alerts/counts.ts";
import { countStanding } from "../../core/quiet/rows.ts";
import { html, type Markup, type Piece } from "../../ground/kit/html.ts";
import { brand } from "../../ground/page/drawings.ts";
import { subscriptionIds } from "../../out/contacts/subscription-ids.ts";
import { bar, isToMend } from "./bar.ts";
import { flashLine } from "./flash.ts";
import type { FormDone, NavId, PageCall } from "./screen.ts";
import { chip, type Face } from "./ui/faces.ts";
import { type IconName, icon } from "./ui/icon.ts";
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
  icon: IconName;
}

/** A phone has the first three and *More*; a tablet and a desk have all. */
const ENTRIES: readonly Entry[] = [
  { id: "alerts", name: "Alerts", path: "/alerts", key: "g a", icon: "bell" },
  { id: "oncall", name: "On call", path: "/oncall", key: "g o", icon: "calendar" },
  { id: "search", name: "Search", path: "/search", key: "/", icon: "search" },
  { id: "projects", name: "Projects", path: "/p", key: "g p", icon: "folder" },
  { id: "heartbeats", name: "Heartbeats", path: "/heartbeats", key: "g h", icon: "pulse" },
  { id: "silences", name: "Silences", path: "/silences", key: "g q", icon: "bell-off" },
  { id: "numbers", name: "Numbers", path: "/numbers", key: "g n", icon: "bars" },
  { id: "people", name: "People", path: "/people", key: "g u", icon: "people" },
  { id: "system", name: "System", path: "/system", key: "g s", icon: "system" },
];
const AT_HAND = 3;

/** What a phone has behind *More*: the rest, and one's own page. */
export const BEHIND_MORE: readonly Entry[] = [
  ...ENTRIES.slice(AT_HAND),
  { id: "me", name: "Me", path: "/me", key: "g m", icon: "person" },
];

interface Shell {
  title: string;
  nav: NavId;
  heading: Markup | null;
  /** Beside the heading. */
  tools?: Markup | undefined;
  main: Markup;
  /** Whoever looks at it, as the navigation draws them; absent where nothing is to be asked any more. */
  me?: Face;
  said: Pick<FormDone, "said" | "undo"> | null;
  /** The last change that it may show; absent where nothing on it changes. */
  since?: string;
  /** The address that shows just this again. */
  at?: string | undefined;
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
      at: page.at,
      script: page.script,
    },
    html`<a class="skip" href="#main">To the content</a>
${navigation(call, page, paths)}
${bar(call)}
<div class="main">
${page.heading !== null && html`<header class="top"><h1>${page.heading}</h1>${page.tools}</header>`}
<main id="main" tabindex="-1">
${page.main}
<p class="paper">${call.origin}${call.at} · printed as of ${exact(call.now, look.zone)}</p>
</main>
${page.refused ?? flashLine(page.said, base)}
</div>`,
  );
}

function navigation(
  call: PageCall,
  { nav: here, me }: Pick<Shell, "nav" | "me">,
  paths: ReadonlySet<string>,
): Markup {
  const { base } = call;
  const entries = ENTRIES.filter(({ path }) => paths.has(path));
  const current = (id: NavId) => id === here && html` aria-current="page"`;
  const beside = countsBeside(call);
  const item = ({ id, name, path, key, icon: drawing }: Entry, at: number) =>
    html`<a class="nav-item${at >= AT_HAND && " nav-wide"}${id === "search" && " nav-search"}" href="${base}${path}" data-key="${key}" title="${name} (${key})"${current(id)}${id === "search" && html` data-palette`}>${icon(drawing)}<span>${name}</span>${id === "search" ? html`<kbd aria-hidden="true">/</kbd>` : beside[id]}</a>
`;
  return html`<nav class="nav" aria-label="Main">
<a class="brand nav-wide" href="${base}/alerts" aria-label="box: the alerts">${brand}</a>
${entries.map(item)}<a class="nav-item nav-more" href="${base}/more"${current("more")}>${icon("more")}<span>More</span></a>
<a class="nav-item nav-wide nav-me" href="${base}/me" data-key="g m" title="Me (g m)"${current("me")}>${me === undefined ? icon("person") : chip(me, { size: "small" })}<span>${me?.name ?? "Me"}</span></a>
</nav>`;
}

/** How many alerts are open, how many silences stand, and whether something is to be mended: that last for managers. */
function countsBeside(call: PageCall): Partial<Record<NavId, Piece>> {
  const { tenant, now } = call;
  const open = countOpen(tenant.store);
  const quiet = countStanding(tenant.store, now);
  return {
    alerts: html`<span class="count count-open" data-open${open === 0 && html` hidden`}>${open > MOST_COUNTED ? `${MOST_COUNTED}+` : open}<span class="hidden-text"> open</span></span>`,
    silences: quiet > 0 && html`<span class="count">${quiet}</span>`,
    system:
      isToMend(call) &&
      html`<span class="count warn">${icon("warn", "small")}<span class="hidden-text">something is to be mended</span></span>`,
  };
}

const MOST_COUNTED = 99;

interface DocumentHead {
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
  /** The address that shows just this again, where that isn't the one that was asked for. */
  at?: string | undefined;
  /** A script that only this page has. */
  script?: string | undefined;
}

const PAPER = { light: "#faf9f7", dark: "#101215" } as const;

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
<html lang="en" data-theme="${look.theme}" data-rows="${look.rows}" data-keys="${look.keys ? "on" : "off"}" data-zone="${look.zone}" data-now="${now}" data-base="${base}" data-who="${head.who}"${head.devices !== undefined && html` data-devices="${head.devices.join(" ")}"`}${head.since !== undefined && html` data-since="${head.since}"`}${head.at !== undefined && html` data-at="${base}${head.at}"`}${look.isWide && " data-wide"}>
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
