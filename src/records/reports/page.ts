import { html, type Markup, type Piece, trusted } from "../../ground/kit/html.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import { type Frame, framed, HTML_TYPE } from "../../ground/page/frame.ts";
import { previewHeaders, publicHeaders } from "./headers.ts";
import {
  newestFirst,
  type PublicEntry,
  type PublicReport,
  publicBody,
  type ReportStanding,
  STANDING_WORDS,
  standingOf,
  TYPE_WORDS,
  titleOf,
} from "./report.ts";
import { PREVIEW_STYLE, STYLE } from "./style.ts";
import { agoText, exactText, isoTime } from "./times.ts";

/** How often the page of an unresolved report reloads. */
const REFRESH_SECONDS = 60;

export interface ReportView {
  report: PublicReport;
  now: number;
  /** Whether the report has a password. */
  gated: boolean;
  /** False where the reader asked for a page that doesn't reload (`?refresh=off`). */
  refresh: boolean;
}

/**
 * The page of one incident: its state, what is known, what happened and when. It reloads itself by the `Refresh` header
 * until the incident is resolved. A link stops that, because a reload can lose a slow reader's place.
 */
export function reportPage(view: ReportView): PageAnswer {
  const { report, gated } = view;
  const standing = standingOf(report.entries);
  const refreshing = view.refresh && standing !== "resolution";
  const head = gated ? null : feedLink(report.uuid);
  const body = shell({ ...whole(view, { standing, refreshing }), head });
  const headers: Record<string, string> = publicHeaders(HTML_TYPE, gated ? "no-store" : "no-cache");
  if (refreshing) headers["Refresh"] = String(REFRESH_SECONDS);
  return { status: 200, headers, body };
}

/**
 * The page as a preview for its writer, in a frame: it doesn't reload, and its links open nothing. `beneath`: what was
 * left out, or why it isn't shown; "" for nothing.
 */
export function previewPage(view: Omit<ReportView, "refresh">, beneath: string): PageAnswer {
  const standing = standingOf(view.report.entries);
  const frame = whole({ ...view, refresh: false }, { standing, refreshing: false });
  const body = framed({
    ...frame,
    style: PREVIEW_STYLE,
    // Another window, which a frame without rights can't open.
    head: html`<base target="_blank">
`,
    footer: html`<footer>${asOf(view.now)}</footer>${beneath !== "" && html`<aside class="left-out" aria-label="Left out"><p>${beneath}</p></aside>`}`,
  });
  return { status: 200, headers: previewHeaders(HTML_TYPE), body };
}

/** The page that readers see. */
function whole(
  view: ReportView,
  { standing, refreshing }: Pick<Footer, "standing" | "refreshing">,
): Omit<Frame, "style" | "head"> {
  const { report, now } = view;
  const title = titleOf(report);
  return {
    title: `${STANDING_WORDS[standing]}: ${title}`,
    main: html`<header>
<p class="kind">Incident report</p>
<h1 dir="auto">${title}</h1>
${standingBox(standing, report, now)}
</header>
${known(report.description)}
${timeLine(newestFirst(report.entries), now)}`,
    footer: footer({ view, standing, refreshing }),
  };
}

/** The page as JSON (contract §8). */
export function reportJson(report: PublicReport, gated: boolean): PageAnswer {
  return {
    status: 200,
    headers: publicHeaders("application/json", gated ? "no-store" : "no-cache"),
    body: JSON.stringify(publicBody(report)),
  };
}

/** Why the reader sees the password page: the first visit, a wrong password, or too many attempts. */
type GateOutcome = "asked" | "wrong" | { waitSeconds: number };

/**
 * The password page of a report. It contains no word of the report (contract §8). The hidden field isn't sent; password
 * managers need a name to store the password.
 */
export function gatePage(outcome: GateOutcome): PageAnswer {
  const headers: Record<string, string> = publicHeaders(HTML_TYPE, "no-store");
  if (typeof outcome === "object") headers["Retry-After"] = String(outcome.waitSeconds);
  const complaint = gateComplaint(outcome);
  const body = shell({
    title: complaint === null ? "Password needed" : "Password needed: try again",
    main: html`<h1>This report is protected</h1>
<p class="lead">Enter the password you were given to read it.</p>
<form method="post">
${complaint !== null && html`<p class="wrong" id="wrong" role="alert">${complaint}</p>`}
<input type="text" autocomplete="username" value="report" hidden>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${
      outcome === "wrong" && trusted(` aria-invalid="true" aria-describedby="wrong" autofocus`)
    }>
<button type="submit">Show the report</button>
</form>`,
  });
  return { status: typeof outcome === "object" ? 429 : 401, headers, body };
}

function gateComplaint(outcome: GateOutcome): string | null {
  if (outcome === "asked") return null;
  if (outcome === "wrong") return "That password isn't right.";
  return `Too many tries. Wait ${outcome.waitSeconds} seconds, then try again.`;
}

/** The same page for every address that doesn't exist, was replaced or was deleted (contract §8). */
export function notFoundPage(): PageAnswer {
  const body = shell({
    title: "No report here",
    main: html`<h1>There is no report at this address</h1>
<p class="lead">The link may have been replaced, or the report taken down. Ask whoever gave it to you for the new one.</p>`,
  });
  return { status: 404, headers: publicHeaders(HTML_TYPE, "no-store"), body };
}

/** All report pages share one style sheet. */
function shell(frame: Omit<Frame, "style">): string {
  return framed({ ...frame, style: STYLE });
}

// Relative, so that it also works behind a proxy that serves the page under another path.
function feedLink(uuid: string): Markup {
  return html`<link rel="alternate" type="application/atom+xml" title="Updates" href="${uuid}/feed.xml">
`;
}

function standingBox(standing: ReportStanding, report: PublicReport, now: number): Markup {
  return html`<div class="now ${standing}">
<p><strong>${STANDING_WORDS[standing]}</strong> ${standingSentence(standing, report.entries)}</p>
<p class="when">Last updated ${moment(report.updatedAt, now)}</p>
</div>`;
}

function standingSentence(standing: ReportStanding, entries: readonly PublicEntry[]): Piece {
  if (standing === "resolution") return "This incident is over.";
  if (standing === "reported") return "The first update is still to come.";
  const resolution = newestFirst(entries).find((entry) => entry.type === "resolution");
  if (resolution !== undefined) {
    return html`There is news since the resolution of <time datetime="${isoTime(resolution.createdAt)}">${exactText(resolution.createdAt)}</time>.`;
  }
  if (standing === "analysis") return "The cause is being looked into.";
  return "This incident isn't resolved yet.";
}

/** A relative time first, because readers are in many time zones; the exact time beside it, and alone on paper. */
function moment(seconds: number, now: number): Markup {
  return html`<time datetime="${isoTime(seconds)}"><span class="screen">${agoText(seconds, now)}, </span><span class="exact">${exactText(seconds)}</span></time>`;
}

/** The description: plain text, with paragraphs at blank lines. */
function known(description: string): Piece {
  if (description.trim() === "") return null;
  const paragraphs = description.trim().split(/(?:\r?\n[ \t]*){2,}/);
  const lines = (text: string) =>
    text.split(/\r?\n/).map((line, index) => (index === 0 ? line : html`<br>${line}`));
  return html`<section aria-labelledby="known">
<h2 id="known">What is known</h2>
${paragraphs.map((paragraph) => html`<p dir="auto">${lines(paragraph)}</p>`)}
</section>`;
}

function timeLine(entries: readonly PublicEntry[], now: number): Piece {
  if (entries.length === 0) return null;
  return html`<section aria-labelledby="timeline">
<h2 id="timeline">Time line<span class="order">, newest first</span></h2>
<div class="entries">
${entries.map((entry) => entryArticle(entry, now))}</div>
</section>`;
}

/** Headed by its title or type. It isn't a list item, because its content could close the item. */
function entryArticle({ id, title, type, contentHtml, createdAt }: PublicEntry, now: number) {
  const untitled = title.trim() === "";
  return html`<article class="${type}" id="entry-${id}">
<h3 dir="auto">${untitled ? TYPE_WORDS[type] : title}</h3>
<p class="when">${!untitled && html`<span class="type">${TYPE_WORDS[type]}</span> · `}${moment(createdAt, now)}</p>
<div class="content" dir="auto">
${trusted(contentHtml)}
</div>
</article>
`;
}

interface Footer {
  view: ReportView;
  standing: ReportStanding;
  refreshing: boolean;
}

function footer({ view, standing, refreshing }: Footer): Markup {
  const { report, now, gated } = view;
  return html`<footer>
${asOf(now)}
${standing !== "resolution" && html`<p class="screen">${refreshNote(report.uuid, refreshing)}</p>`}
${!gated && html`<p class="screen"><a href="${report.uuid}/feed.xml">Follow this incident in a feed reader</a></p>`}
</footer>`;
}

const asOf = (now: number): Markup =>
  html`<p>As of <time datetime="${isoTime(now)}">${exactText(now)}</time>. All times are UTC.</p>`;

function refreshNote(uuid: string, refreshing: boolean): Markup {
  return refreshing
    ? html`This page refreshes itself every minute until the incident is resolved. <a href="${uuid}?refresh=off">Stop refreshing</a>`
    : html`This page stays as it is. <a href="${uuid}">Refresh every minute</a>`;
}
