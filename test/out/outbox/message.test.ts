import assert from "node:assert/strict";
import { test } from "node:test";
import { eventKinds } from "../../../src/out/outbox/event.ts";
import { describe, plainText } from "../../../src/out/outbox/message.ts";
import { eventBody } from "../../support/events.ts";
import fc, { anyCharacter } from "../../support/property.ts";

test("what is wrong, where, how bad and since when, at a glance", () => {
  assert.equal(
    plainText(describe(eventBody(), { link: "https://box.example/a/7" })),
    [
      "ALERT: shop · Payments failing",
      "Payment 42 failed for bob",
      "host = web-1",
      "error · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7",
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
      "ALERT",
      "ESCALATED (step 2)",
      "STILL OPEN",
      "Acknowledged",
      "Resolved",
      "Test",
      "CHANNEL DISABLED",
    ],
  );
});

test("the template stands in for an empty message, times of one minute are one", () => {
  const { first_seen } = eventBody();
  const message = describe(eventBody({ last_message: " \n", count: 1, last_seen: first_seen }));
  assert.deepEqual(message.details, ["Payment <*> failed for <*>", "host = web-1"]);
  assert.equal(message.facts, "error · 1 event · at 2026-01-05 03:00 UTC · alert 7");
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
