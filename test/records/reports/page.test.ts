import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  gatePage,
  notFoundPage,
  type ReportView,
  reportJson,
  reportPage,
} from "../../../src/records/reports/page.ts";
import { renderMarkdown } from "../../../src/records/reports/render.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";
import { hostileMarkdown } from "./hostile.ts";
import { readPage } from "./oracle.ts";
import { entry, NOW, report, UUID, usualReport } from "./sample.ts";

function page(changes: Partial<ReportView> = {}) {
  return reportPage({ report: report(), now: NOW, gated: false, refresh: true, ...changes });
}

test("the policy allows this page's own style sheet and nothing else", () => {
  const { headers, body } = page();
  const sheet = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? "";
  assert.equal(
    headers["Content-Security-Policy"],
    `default-src 'none'; style-src 'sha256-${hash("sha256", sheet, "base64")}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  assert.equal(body.match(/<style|<script|<link|<img|style=|@import|url\(/g)?.length, 2);
});

test("every answer says not to index, not to refer and not to sniff", () => {
  const answers = [page(), gatePage("asked"), notFoundPage(), reportJson(report(), false)];
  for (const { headers } of answers) {
    assert.equal(headers["Referrer-Policy"], "no-referrer");
    assert.equal(headers["X-Robots-Tag"], "noindex, nofollow, noarchive");
    assert.equal(headers["X-Content-Type-Options"], "nosniff");
    assert.match(headers["Content-Security-Policy"] ?? "", /^default-src 'none';/);
    assert.equal(headers["Vary"], "Accept, Cookie");
  }
});

test("nothing behind a password, and no refusal, is stored", () => {
  assert.equal(page().headers["Cache-Control"], "no-cache");
  assert.equal(page({ gated: true }).headers["Cache-Control"], "no-store");
  assert.equal(reportJson(report(), true).headers["Cache-Control"], "no-store");
  assert.equal(gatePage("asked").headers["Cache-Control"], "no-store");
  assert.equal(notFoundPage().headers["Cache-Control"], "no-store");
});

test("the newest entry's type says how the incident stands", () => {
  const standing = (...types: ("update" | "analysis" | "resolution")[]) => {
    const entries = types.map((type, index) => entry({ type, createdAt: NOW - 90 + index }));
    return /<strong>(\w+)<\/strong>/.exec(page({ report: report({ entries }) }).body)?.[1];
  };
  assert.equal(standing(), "Reported");
  assert.equal(standing("update"), "Update");
  assert.equal(standing("update", "analysis"), "Investigating");
  assert.equal(standing("analysis", "resolution"), "Resolved");
  assert.equal(standing("resolution", "update"), "Update");
});

test("of two entries in one second the later is the newer", () => {
  const entries = [entry({ type: "analysis" }), entry({ type: "resolution" })];
  assert.match(page({ report: report({ entries }) }).body, /<strong>Resolved/);
});

test("news after a resolution doesn't hide that there was one", () => {
  const entries = [
    entry({ type: "resolution", createdAt: NOW - 3600 }),
    entry({ type: "analysis", createdAt: NOW - 60 }),
  ];
  assert.match(
    page({ report: report({ entries }) }).body,
    /news since the resolution of <time datetime="2026-11-21T02:10:00Z">/,
  );
});

test("it refreshes itself until resolved, unless the reader said no", () => {
  const resolved = report({ entries: [entry({ type: "resolution" })] });
  assert.equal(page().headers["Refresh"], "60");
  assert.match(page().body, new RegExp(`href="${UUID}\\?refresh=off"`));
  assert.equal(page({ refresh: false }).headers["Refresh"], undefined);
  assert.match(page({ refresh: false }).body, new RegExp(`href="${UUID}">Refresh`));
  assert.equal(page({ report: resolved }).headers["Refresh"], undefined);
  assert.equal(gatePage("asked").headers["Refresh"], undefined);
});

test("entries stand newest first with type, exact and relative time", () => {
  const { body } = page({ report: usualReport(true) });
  const { headings } = readPage(body);
  assert.deepEqual(headings, [
    "Resolved: Card payments are slow, some fail",
    "Card payments are slow, some fail",
    "Resolution",
    "A failing disk is the cause",
    "We are looking into slow payments",
  ]);
  assert.match(
    body,
    /<time datetime="2026-11-21T02:47:00Z"><span class="screen">23 min ago, <\/span><span class="exact">21 Nov 2026, 02:47 UTC<\/span><\/time>/,
  );
  assert.match(
    body,
    /Last updated <time datetime="2026-11-21T03:06:00Z"><span class="screen">4 min ago/,
  );
});

test("a description keeps its paragraphs and lines", () => {
  const { body } = page({ report: report({ description: "a\nb\r\n\r\n  \nc & d\n" }) });
  assert.match(body, /<p dir="auto">a<br>b<\/p><p dir="auto">c &amp; d<\/p>/);
});

test("an empty title still makes a heading", () => {
  assert.deepEqual(readPage(page({ report: report({ title: " " }) }).body).headings, [
    "Reported: Incident report",
    "Incident report",
  ]);
});

test("a usual page is under 30 KiB", () => {
  const { body } = page({ report: usualReport(true) });
  assert.ok(Buffer.byteLength(body) < 30 * 1024, `${Buffer.byteLength(body)} bytes`);
});

test("the gate says no word of any report", () => {
  assert.equal(gatePage("asked").status, 401);
  assert.equal(gatePage("wrong").status, 401);
  assert.match(gatePage("asked").body, /<form method="post">/);
  assert.match(gatePage("wrong").body, /role="alert">That password isn/);
  const waiting = gatePage({ waitSeconds: 17 });
  assert.equal(waiting.status, 429);
  assert.equal(waiting.headers["Retry-After"], "17");
  assert.match(waiting.body, /Wait 17 seconds/);
});

test("the page for no report is always the same", () => {
  assert.equal(notFoundPage().status, 404);
  assert.deepEqual(notFoundPage(), notFoundPage());
});

test("JSON is the page's content, newest first", () => {
  const entries = [
    entry({ title: "old", createdAt: NOW - 60 }),
    entry({ title: "new", type: "resolution", contentHtml: "<p>y</p>", createdAt: NOW }),
  ];
  const { headers, body } = reportJson(report({ description: "d", entries }), false);
  assert.equal(headers["Content-Type"], "application/json");
  assert.deepEqual(JSON.parse(body), {
    title: "Payments are slow",
    description: "d",
    entries: [
      { title: "new", entry_type: "resolution", content_html: "<p>y</p>", created_at: NOW },
      { title: "old", entry_type: "update", content_html: "<p>x</p>", created_at: NOW - 60 },
    ],
    updated_at: NOW - 12 * 60,
  });
});

/** A page whose every field holds `text`, between two harmless entries. */
function pageOf(text: string): string {
  const harmless = (id: string, ago: number) =>
    entry({ id, title: "x", contentHtml: "<p>x</p>", createdAt: NOW - ago });
  return page({
    report: report({
      title: `x${text}`,
      description: `x${text.replaceAll("\n", " ")}`,
      entries: [
        harmless("a", 30),
        entry({ title: `x${text}`, contentHtml: renderMarkdown(text), createdAt: NOW - 20 }),
        harmless("c", 10),
      ],
    }),
  }).body;
}

long("no vector in any field changes the page around it", () => {
  const { skeleton } = readPage(pageOf("harmless"));
  for (const vector of XSS_VECTORS) {
    const read = readPage(pageOf(vector));
    assert.deepEqual(read.faults, [], vector);
    assert.equal(read.skeleton, skeleton, vector);
    // What was written as a title is read as that title, entities and all.
    const written = `x${vector}`.replace(/\r\n?/g, "\n").replaceAll("\u0000", "");
    assert.ok(read.headings.includes(written), vector);
  }
});

test("fuzzed Markdown doesn't either", () => {
  const { skeleton } = readPage(pageOf("harmless"));
  fc.assert(
    fc.property(hostileMarkdown, (markdown) => {
      const read = readPage(pageOf(markdown));
      assert.deepEqual(read.faults, []);
      assert.equal(read.skeleton, skeleton);
    }),
    { numRuns: 500 },
  );
});
