import { html, type Markup } from "../../ground/kit/html.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import { publicHeaders } from "./headers.ts";
import {
  newestFirst,
  type PublicEntry,
  type PublicReport,
  STANDING_WORDS,
  standingOf,
  TYPE_WORDS,
  titleOf,
} from "./report.ts";
import { isoTime } from "./times.ts";

/** Characters that XML 1.0 can't contain, even escaped (XML 1.0 §2.2). */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

interface FeedView {
  report: PublicReport;
  /** The page's absolute address, without a query. */
  pageUrl: string;
  gated: boolean;
}

/** The report as an Atom feed (RFC 4287), newest entry first. */
export function reportFeed({ report, pageUrl, gated }: FeedView): PageAnswer {
  const entries = newestFirst(report.entries);
  const feed = html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:uuid:${report.uuid}</id>
<title>${xml(`${STANDING_WORDS[standingOf(entries)]}: ${titleOf(report)}`)}</title>
${
  report.description !== "" &&
  html`<subtitle>${xml(report.description)}</subtitle>
`
}<updated>${isoTime(report.updatedAt)}</updated>
<author><name>${new URL(pageUrl).host}</name></author>
<link rel="self" type="application/atom+xml" href="${pageUrl}/feed.xml"/>
<link rel="alternate" type="text/html" href="${pageUrl}"/>
${entries.map((entry) => feedEntry(entry, pageUrl))}</feed>
`;
  return {
    status: 200,
    headers: publicHeaders("application/atom+xml; charset=utf-8", gated ? "no-store" : "no-cache"),
    body: `<?xml version="1.0" encoding="utf-8"?>\n${feed.markup}`,
  };
}

function feedEntry({ id, title, type, contentHtml, createdAt }: PublicEntry, page: string): Markup {
  const headline = title.trim() === "" ? TYPE_WORDS[type] : `${TYPE_WORDS[type]}: ${title}`;
  return html`<entry>
<id>${page}#entry-${id}</id>
<title>${xml(headline)}</title>
<updated>${isoTime(createdAt)}</updated>
<link rel="alternate" type="text/html" href="${page}#entry-${id}"/>
<category term="${type}"/>
<content type="html">${xml(contentHtml)}</content>
</entry>
`;
}

function xml(text: string): string {
  return text.replace(NOT_XML, "\u{FFFD}");
}
