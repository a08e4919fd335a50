import assert from "node:assert/strict";
import { test } from "node:test";
import { reportFeed } from "../../../src/records/reports/feed.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import fc, { anyCharacter } from "../../support/property.ts";
import { entry, NOW, report, UUID, usualReport } from "./sample.ts";

const pageUrl = `https://box.test/public/reports/${UUID}`;

const XML_CHARACTERS = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const TOKEN = /<(\/?)([a-z]+)((?: [a-z]+="[^"<&]*(?:&(?:amp|lt|gt|quot|#39);[^"<&]*)*")*)(\/?)>/y;
const TEXT = /(?:[^<&>]|&(?:amp|lt|gt|quot|#39);)+/y;

/** Throws where the text is no well-formed XML of the kind that the feed is written in. */
function assertWellFormed(xml: string): void {
  assert.match(xml, XML_CHARACTERS);
  const start = '<?xml version="1.0" encoding="utf-8"?>\n';
  assert.ok(xml.startsWith(start));
  const open: string[] = [];
  for (let at = start.length; at < xml.length; ) {
    TOKEN.lastIndex = TEXT.lastIndex = at;
    const tag = TOKEN.exec(xml);
    const found = tag ?? TEXT.exec(xml);
    assert.ok(found, `at ${at}: ${JSON.stringify(xml.slice(at, at + 60))}`);
    if (tag?.[1] === "/") assert.equal(open.pop(), tag[2]);
    else if (tag && tag[4] !== "/") open.push(tag[2] ?? "");
    at += found[0].length;
  }
  assert.deepEqual(open, []);
}

test("the feed carries every entry, newest first", () => {
  const { status, headers, body } = reportFeed({
    report: usualReport(true),
    pageUrl,
    gated: false,
  });
  assert.equal(status, 200);
  assert.equal(headers["Content-Type"], "application/atom+xml; charset=utf-8");
  assert.equal(headers["Cache-Control"], "no-cache");
  assertWellFormed(body);
  assert.match(body, new RegExp(`<id>urn:uuid:${UUID}</id>`));
  assert.match(body, /<title>Resolved: Card payments are slow, some fail<\/title>/);
  assert.match(body, /<author><name>box\.test<\/name><\/author>/);
  const entries = [...body.matchAll(/<entry>\n<id>([^<]*)<\/id>\n<title>([^<]*)</g)];
  assert.deepEqual(
    entries.map(([, id, title]) => [id, title]),
    [
      [`${pageUrl}#entry-0000000000000003`, "Resolution"],
      [`${pageUrl}#entry-0000000000000002`, "Analysis: A failing disk is the cause"],
      [`${pageUrl}#entry-0000000000000001`, "Update: We are looking into slow payments"],
    ],
  );
  assert.match(body, /<content type="html">&lt;p&gt;All payments/);
  assert.match(body, /<updated>2026-11-21T03:06:00Z<\/updated>/);
});

test("a gated feed is not stored", () => {
  const { headers } = reportFeed({ report: report(), pageUrl, gated: true });
  assert.equal(headers["Cache-Control"], "no-store");
});

function feedOf(text: string): string {
  const entries = [entry({ title: text, contentHtml: text, createdAt: NOW })];
  return reportFeed({
    report: report({ title: text, description: text, entries }),
    pageUrl,
    gated: false,
  }).body;
}

test("no text makes it anything but well-formed", () => {
  for (const vector of XSS_VECTORS) assertWellFormed(feedOf(vector));
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => assertWellFormed(feedOf(text))),
  );
});
