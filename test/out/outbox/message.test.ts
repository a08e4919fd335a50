import assert from "node:assert/strict";
import { test } from "node:test";
import { type EventBody, eventKinds } from "../../../src/out/outbox/event.ts";
import type { EventNames } from "../../../src/out/outbox/event-names.ts";
import { describe, leadOf, names, plainText, subjectOf } from "../../../src/out/outbox/message.ts";
import { eventBody } from "../../support/events.ts";
import fc, { anyCharacter } from "../../support/property.ts";

test("what is wrong, where, how bad and since when, at a glance", () => {
  assert.equal(
    plainText(describe(eventBody(), { link: "https://box.example/a/7" })),
    [
      "ERROR shop: Payment 42 failed for bob",
      "host = web-1",
      "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7",
      "https://box.example/a/7",
    ].join("\n"),
  );
});

test("each kind of event has its own first words", () => {
  const titles = eventKinds.map(
    (event) => describe(eventBody({ event, escalation_level: 2 })).title,
  );
  assert.deepEqual(
    titles.map((title) => title.split(":")[0]),
    [
      "ERROR shop",
      "ERROR shop",
      "ERROR shop",
      "Acknowledged shop",
      "Resolved shop",
      "Test",
      "CHANNEL DISABLED",
    ],
  );
});

test("the template stands in for an empty message, times of one minute are one", () => {
  const { first_seen } = eventBody();
  const message = describe(eventBody({ last_message: " \n", count: 1, last_seen: first_seen }));
  assert.equal(message.title, "ERROR shop: Payment <*> failed for <*>");
  assert.deepEqual(message.details, ["host = web-1"]);
  assert.equal(
    message.facts,
    "error · rule Payments failing · 1 event · at 2026-01-05 03:00 UTC · alert 7",
  );
});

test("the sender's title is the title; what was logged, and what tells it from others, stands below", () => {
  const apart = [
    { name: "host", value: "web-1" },
    { name: "zone", value: "eu\n1" },
  ];
  const event = eventBody({ title: "Payments fail", identifiers: { shop: "acme", none: "" } });
  const { title, details } = describe(event, { said: { apart } });
  assert.equal(title, "ERROR shop: Payments fail");
  assert.deepEqual(details, [
    "Payment 42 failed for bob",
    "host = web-1",
    "zone = eu 1",
    "shop = acme",
  ]);
});

test("a long project gives way to what the alert is called", () => {
  const { title } = describe(eventBody({ project: "p".repeat(100), title: "t".repeat(200) }));
  assert.equal(title, `ERROR ${"p".repeat(24)}…: ${"t".repeat(107)}`);
});

const bob = { people: [{ name: "Bob", why: "rung 2" }], more: 0 };
const leads: readonly (readonly [Partial<EventBody>, EventNames, string])[] = [
  [{ escalation_level: 1 }, { next: { at: 60, ...bob } }, "You're first, Bob (rung 2) 60"],
  [{ escalation_level: 1 }, { next: null }, "You're first, then nobody"],
  [{ escalation_level: 1 }, {}, ""],
  [
    { escalation_level: 2 },
    { next: { at: 60, ...bob } },
    "Escalated (rung 2), then Bob (rung 2) 60",
  ],
  [{ escalation_level: 2 }, {}, "Escalated (rung 2)"],
  [{ event: "alert.renotified" }, { next: null }, "Still open, then nobody"],
  [{ event: "alert.renotified" }, { again: true }, "Open again"],
  [
    { event: "alert.opened", escalation_level: 0 },
    { next: { at: 60, ...bob } },
    "Then Bob (rung 2) 60",
  ],
  [{ escalation_level: 1 }, { next: { at: 60, ...bob }, nobody: true }, ""],
];
for (const [changes, said, lead] of leads)
  test(`a page's second line: ${lead || "none"}`, () => {
    const event = eventBody({ event: "alert.escalated", ...changes });
    assert.equal(leadOf(event, said, { clock: String, who: names }), lead);
  });

test("a mail's subject has the level in brackets, and is else the title", () => {
  const titles: readonly (readonly [number, string, string])[] = [
    [500, "CRITICAL shop: down", "[Critical] shop: down"],
    [430, "ERROR (430) shop: down", "[Error (430)] shop: down"],
    [500, "DRILL · CRITICAL shop: down", "DRILL · [Critical] shop: down"],
    [500, "Resolved shop: down", "Resolved shop: down"],
    [400, "CRITICAL shop: by somebody's own words", "CRITICAL shop: by somebody's own words"],
  ];
  for (const [level, title, subject] of titles) assert.equal(subjectOf(title, level), subject);
});

test("a test and a disabled channel tell no counts", () => {
  for (const event of ["alert.test", "integration.disabled"] as const) {
    assert.equal(describe(eventBody({ event })).facts, "");
  }
});

test("no event makes more than a screenful, nor a line of control characters", () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 9_000 });
  fc.assert(
    fc.property(
      fc.record({
        event: fc.constantFrom(...eventKinds),
        project: text,
        rule: text,
        template: text,
        last_message: text,
        identifiers: fc.dictionary(text, text, { maxKeys: 40 }),
        first_seen: fc.integer(),
        last_seen: fc.maxSafeInteger(),
      }),
      (changes) => {
        const message = describe(eventBody(changes));
        assert.ok(plainText(message).length < 4_000);
        assert.doesNotMatch(message.title, /\n/);
        assert.doesNotMatch(plainText(message), /[^\P{Cc}\n\t]/u);
      },
    ),
    { numRuns: 40 },
  );
});
