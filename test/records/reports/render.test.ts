import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMarkdown } from "../../../src/records/reports/render.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import fc from "../../support/property.ts";
import { hostileMarkdown } from "./hostile.ts";
import { contentFaults } from "./oracle.ts";

test("Markdown of every listed kind is rendered", () => {
  const rendered = renderMarkdown(
    "**b** *e* ~~d~~ `c`\n\n- u\n\n3. o\n\n> q\n\n---\n\n```\n<pre>\n```\n\n|l|r|\n|:-|-:|\n|1|2|",
  );
  for (const part of [
    "<p><strong>b</strong> <em>e</em> <del>d</del> <code>c</code></p>",
    "<ul>\n<li>u</li>\n</ul>",
    '<ol start="3">\n<li>o</li>\n</ol>',
    "<blockquote>\n<p>q</p>\n</blockquote>",
    "<hr />",
    "<pre><code>&lt;pre&gt;\n</code></pre>",
    '<th align="left">l</th>',
    '<td align="right">2</td>',
  ]) {
    assert.ok(rendered.includes(part), `${part} in\n${rendered}`);
  }
});

test("raw HTML is removed, its prose is kept, and scripts go with their text", () => {
  assert.equal(
    renderMarkdown('<div class="x">one <b>two</b> <em>three</em></div>'),
    "one two <em>three</em>",
  );
  assert.equal(renderMarkdown("a <script>b()</script> c"), "<p>a  c</p>");
});

test("links are absolute, of three schemes, and carry rel; others leave their text", () => {
  assert.equal(
    renderMarkdown('[a](https://b.test/?x=1&y "t")'),
    '<p><a href="https://b.test/?x=1&amp;y" title="t" rel="nofollow noopener noreferrer">a</a></p>',
  );
  assert.equal(
    renderMarkdown("[a](mailto:b@c.test)"),
    '<p><a href="mailto:b@c.test" rel="nofollow noopener noreferrer">a</a></p>',
  );
  for (const target of [
    "javascript:x",
    "/v1/projects",
    "//b.test",
    "#a",
    "ftp://b.test",
    "http:b",
  ]) {
    assert.equal(renderMarkdown(`[a](${target}) *b*`), "<p>a <em>b</em></p>", target);
  }
});

test("a link within a link leaves its text, so that no link runs on", () => {
  assert.equal(
    renderMarkdown(
      'q <a href="https://a.test">one <em><a href="https://b.test">two</a></em> three</a> four',
    ),
    '<p>q <a href="https://a.test" rel="nofollow noopener noreferrer">one <em>two</em> three</a> four</p>',
  );
});

test("an image is a link to it", () => {
  assert.equal(
    renderMarkdown("![graph](https://a.test/g.png)"),
    '<p>!<a href="https://a.test/g.png" rel="nofollow noopener noreferrer">graph</a></p>',
  );
  assert.equal(renderMarkdown('x <img src="https://a.test/g.png" alt="y"> z'), "<p>x  z</p>");
});

test("headings stand under an entry's and never skip a level on the way down", () => {
  const levels = (markdown: string) =>
    [...renderMarkdown(markdown).matchAll(/<h(\d)>/g)].map(([, level]) => Number(level));
  assert.deepEqual(levels("# a\n\n### b\n\n## c\n\n# d"), [4, 5, 5, 4]);
  assert.deepEqual(levels("### a\n\n# b\n\n###### c\n\n###### d"), [4, 4, 5, 5]);
  assert.deepEqual(levels("# a\n\n## b\n\n### c\n\n#### d\n\n##### e"), [4, 5, 6, 6, 6]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 })), (wanted) => {
      const got = levels(wanted.map((level) => `${"#".repeat(level)} x`).join("\n\n"));
      assert.equal(got.length, wanted.length);
      for (const [index, level] of got.entries()) assert.ok(level - (got[index - 1] ?? 3) <= 1);
    }),
  );
});

test("what is nested too deep keeps its text and loses its tags", () => {
  const rendered = renderMarkdown(`${"> ".repeat(100)}deep *down* here`);
  assert.equal(rendered.match(/<blockquote>/g)?.length, 32);
  assert.match(rendered, /deep down here/);
});

test("no vector leaves a tag, an attribute or a scheme that isn't listed", () => {
  assert.ok(XSS_VECTORS.length >= 300, `${XSS_VECTORS.length} vectors`);
  for (const vector of XSS_VECTORS) {
    assert.deepEqual(contentFaults(renderMarkdown(vector)), [], vector);
    assert.deepEqual(contentFaults(renderMarkdown(`a ${vector} b`)), [], vector);
  }
});

test("no two vectors in a row do either", () => {
  const vector = fc.constantFrom(...XSS_VECTORS);
  fc.assert(
    fc.property(fc.array(vector, { minLength: 2, maxLength: 5 }), fc.boolean(), (some, apart) => {
      assert.deepEqual(contentFaults(renderMarkdown(some.join(apart ? "\n\n" : ""))), []);
    }),
    { numRuns: 300 },
  );
});

test("fuzzed Markdown leaves nothing that isn't listed", () => {
  fc.assert(
    fc.property(hostileMarkdown, (markdown) => {
      assert.deepEqual(contentFaults(renderMarkdown(markdown)), []);
    }),
    { numRuns: 1_000 },
  );
});
