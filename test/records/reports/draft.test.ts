import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftEntry,
  exportMarkdown,
  type TimelineStep,
} from "../../../src/records/reports/draft.ts";
import { renderMarkdown } from "../../../src/records/reports/render.ts";
import fc from "../../support/property.ts";
import { NOW } from "./sample.ts";

function step(minutes: number, kind: string, detail: Record<string, unknown> = {}): TimelineStep {
  return {
    at: NOW + minutes * 60,
    kind,
    account_id: null,
    detail: { email: "ada@box.test", ...detail },
  };
}

const delivered = (minutes: number, event: string) => step(minutes, "delivered", { event });

test("an alert's history becomes an entry to edit", () => {
  const draft = draftEntry([
    step(0, "opened"),
    delivered(0, "alert.opened"),
    delivered(0.1, "alert.opened"),
    step(15, "escalated"),
    delivered(16, "alert.escalated"),
    step(19, "acknowledged"),
    delivered(19, "alert.acknowledged"),
    step(92, "resolved"),
  ]);
  assert.deepEqual(draft, {
    title: "Resolved",
    entry_type: "resolution",
    content_md: `21 Nov 2026, times in UTC:

- **03:10** The problem was detected automatically.
- **03:10** A notification was sent.
- **03:26** A page to the people on call was sent.
- **03:29** The team acknowledged the problem.
- **04:42** The problem was marked as resolved.

Acknowledged after 19 min, resolved after 1 h 32 min.

What we know so far: …
`,
  });
});

test("nobody is said to have been notified whom nothing has reached, and nobody to be called in before that", () => {
  const { content_md } = draftEntry([
    step(0, "opened"),
    step(0, "escalated", { level: 1, accounts: ["ann"] }),
    step(1, "delivery_failed", { event: "alert.escalated" }),
    step(5, "reached_nobody", { steps: [2], top: true }),
    step(6, "renotified"),
  ]);
  assert.deepEqual(content_md.match(/^- .*$/gm), [
    "- **03:10** The problem was detected automatically.",
    "- **03:15** Nobody on call could be reached.",
  ]);
});

test("an alert that went on as another one is not over", () => {
  const draft = draftEntry([
    step(0, "opened"),
    step(5, "resolved", { reason: "merged", into: "2" }),
  ]);
  assert.equal(draft.entry_type, "update");
  assert.match(draft.content_md, /the same problem as another one/);
  assert.doesNotMatch(draft.content_md, /after/);
});

test("an alert that went quiet says so, not that anybody saw to it", () => {
  const draft = draftEntry([step(0, "opened"), step(30, "resolved", { reason: "quiet" })]);
  assert.equal(draft.entry_type, "resolution");
  assert.match(draft.content_md, /no more signs of the problem/);
});

test("an alert that goes on makes an update, each day a list", () => {
  const draft = draftEntry([step(0, "opened"), delivered(24 * 60, "alert.renotified")]);
  assert.equal(draft.entry_type, "update");
  assert.equal(draft.title, "What has happened so far");
  assert.match(draft.content_md, /^21 Nov 2026, .*\n\n.*\n\n22 Nov 2026, /);
  assert.doesNotMatch(draft.content_md, /after/);
});

test("what is the operator's business stays out", () => {
  const draft = draftEntry([step(0, "opened"), step(1, "failed"), step(2, "constructor")]);
  assert.equal(draft.content_md.match(/^- /gm)?.length, 1);
  assert.doesNotMatch(draft.content_md, /ada@box\.test/);
});

test("an empty history is a draft all the same", () => {
  assert.equal(draftEntry([]).content_md, "What we know so far: …\n");
});

const written = { title: "Slow *payments*", description: "", createdAt: NOW, updatedAt: NOW + 60 };

test("a report is exported oldest entry first", () => {
  const text = exportMarkdown({ ...written, description: "1. a\n\n# b" }, [
    { title: "", type: "resolution", contentMd: "over\n", createdAt: NOW + 60 },
    { title: "cause", type: "analysis", contentMd: "a **disk**", createdAt: NOW },
  ]);
  assert.equal(
    text,
    `# Slow \\*payments\\*

Opened 21 Nov 2026, 03:10 UTC, last updated 21 Nov 2026, 03:11 UTC.

1\\. a

\\# b

## Analysis: cause

*21 Nov 2026, 03:10 UTC*

a **disk**

## Resolution

*21 Nov 2026, 03:11 UTC*

over
`,
  );
});

test("a fence left open doesn't swallow what follows", () => {
  const entries = ["```js\nx", "~~~~\n~~~\n```", "```\nclosed\n```", "```a`b"].map(
    (contentMd, index) => ({
      title: `n${index}`,
      type: "update" as const,
      contentMd,
      createdAt: NOW,
    }),
  );
  const rendered = renderMarkdown(exportMarkdown(written, entries));
  assert.equal(rendered.match(/<h5>Update: n\d<\/h5>/g)?.length, 4);
});

test("titles and descriptions are exported as the text they are", () => {
  const word = fc.string({
    unit: fc.constantFrom(..."ab1 *_`[]()<>#+-.!|~&;=\\\n"),
    maxLength: 30,
  });
  fc.assert(
    fc.property(word, word, (title, description) => {
      const rendered = renderMarkdown(exportMarkdown({ ...written, title, description }, []));
      assert.doesNotMatch(rendered, /<(?!\/?(?:h4|p)>)/);
    }),
  );
});
