import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inCustomWords, templateFields } from "../../../src/out/outbox/custom-words.ts";
import type { EventNames } from "../../../src/out/outbox/event-names.ts";
import { describe } from "../../../src/out/outbox/message.ts";
import { eventBody } from "../../support/events.ts";

const event = eventBody({ event: "alert.escalated", escalation_level: 2, page_accounts: ["a1"] });
const said: EventNames = {
  paged: { people: [{ name: "Ann", why: "on call: primary" }], more: 0 },
  next: { at: event.timestamp + 600, people: [{ name: "Cy", why: "rung 3" }], more: 0 },
  runbook: "https://wiki.example/x",
};
const custom = (title_template: string, body_template: string) =>
  inCustomWords(
    describe(event, { said, link: "https://box.example/a/7" }),
    { title_template, body_template },
    { event, said },
  );

test("title and text of one's own stand in the places of the usual; addresses stay", () => {
  const both = custom(
    "{{rule}} {{#is_escalated}}↑{{/is_escalated}}",
    "{{paged}} until {{next_at}}",
  );
  assert.deepEqual(both, {
    title: "Payments failing ↑",
    details: ["Ann (on call: primary) until 2026-01-05 03:22"],
    people: [],
    facts: "",
    link: "https://box.example/a/7",
    links: [{ text: "Runbook", href: "https://wiki.example/x" }],
  });
  const usual = describe(event, { said, link: "https://box.example/a/7" });
  const details = ["Payment 42 failed for bob", ...usual.details];
  assert.deepEqual(custom("x", ""), { ...usual, title: "x", details });
  assert.deepEqual(custom("{{because}}", "{{by}}\n"), usual, "what comes to nothing is the usual");
});

test("what a webhook's body calls its fields may be used by those names", () => {
  const { details } = custom(
    "x",
    "{{last_message}}|{{event_id}}|{{timestamp}}|{{#page_accounts}}{{.}},{{/page_accounts}}",
  );
  assert.deepEqual(details, [`${event.last_message}|${event.event_id}|${event.timestamp}|Ann,`]);
});

test("a title is one line, and both are as short as the usual ones", () => {
  const { title, details } = custom(
    "a\r\nBcc: x\u0000{{message}}".repeat(40),
    "{{message}}\n".repeat(190),
  );
  assert.doesNotMatch(title, /\p{Cc}/u);
  assert.ok([...title].length <= 140 && (details[0] ?? "").length <= 3_500);
});

test("no field has an account's id, and the page on message texts names every field", () => {
  for (const name of templateFields) {
    const text = `{{${name}}}{{#${name}}}{{.}}{{/${name}}}`;
    assert.doesNotMatch(JSON.stringify(custom("x", text)), /a1/, name);
  }
  const guide = readFileSync(
    join(import.meta.dirname, "../../../docs/how-to/message-texts.md"),
    "utf8",
  );
  const missing = templateFields.filter((name) => !guide.includes(`\`${name}\``));
  assert.deepEqual(missing, []);
});
