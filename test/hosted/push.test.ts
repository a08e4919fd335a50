import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildPayload,
  collapseId,
  cutToBytes,
  noticeOf,
  type PagedEvent,
} from "../../src/hosted/push.ts";
import fc, { anyCharacter } from "../support/property.ts";

const event: PagedEvent = {
  tenantId: "0011223344556677",
  event: "alert.opened",
  alertId: "42",
  project: "shop",
  rule: "disk",
  template: "Disk <*> is full",
  count: 3,
  level: 300,
};

const read = (paged: PagedEvent, criticalAlerts: boolean) =>
  JSON.parse(buildPayload(noticeOf(paged), { criticalAlerts }));

test("title is project and rule, body is template and count", () => {
  assert.deepEqual(read(event, false), {
    aps: {
      alert: { title: "shop: disk", body: "Disk <*> is full (×3)" },
      sound: "default",
      "interruption-level": "time-sensitive",
      "thread-id": "shop",
    },
    event: "alert.opened",
    tenant_id: "0011223344556677",
    alert_id: "42",
    project: "shop",
  });
});

test("critical only for devices that allow it, and only when escalated or level 500 and more", () => {
  const level = (paged: Partial<PagedEvent>, allowed: boolean) =>
    read({ ...event, ...paged }, allowed).aps["interruption-level"];
  assert.equal(level({ level: 499 }, true), "time-sensitive");
  assert.equal(level({ level: 500 }, true), "critical");
  assert.equal(level({ level: 500 }, false), "time-sensitive");
  assert.equal(level({ event: "alert.escalated" }, true), "critical");
  assert.equal(level({ event: "alert.escalated" }, false), "time-sensitive");
  assert.equal(level({ event: "alert.renotified" }, true), "time-sensitive");
  const { sound } = read({ ...event, level: 500 }, true).aps;
  assert.deepEqual(sound, { critical: 1, name: "default", volume: 1 });
});

test("a test event without project or rule still has a title", () => {
  const bare = { ...event, event: "alert.test", project: "", rule: "" };
  assert.equal(read(bare, false).aps.alert.title, "Test alert");
});

/** Texts that grow when written as JSON: controls, quotes, lone surrogates, long clusters. */
const nasty = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 6000, size: "max" }),
  fc.string({ unit: "grapheme", maxLength: 3000, size: "max" }),
  fc
    .array(fc.constantFrom("\u0001", '"', "\\", "\ud83d", "👩‍👩‍👧‍👦", "é", "🇩🇪", "a"), {
      maxLength: 4000,
    })
    .map((parts) => parts.join("")),
  fc.nat(5000).map((n) => `a${"\u0301".repeat(n)}`),
);

test("the payload of any event has at most 4,096 bytes and keeps its shape", () => {
  const any = fc.record({
    tenantId: fc.constant(event.tenantId),
    event: fc.oneof(fc.constantFrom("alert.opened", "alert.escalated", "alert.test"), nasty),
    alertId: nasty,
    project: nasty,
    rule: nasty,
    template: nasty,
    count: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
    level: fc.nat(1000),
  });
  fc.assert(
    fc.property(any, fc.boolean(), (paged, critical) => {
      const json = buildPayload(noticeOf(paged), { criticalAlerts: critical });
      assert.ok(Buffer.byteLength(json) <= 4096, `${Buffer.byteLength(json)}`);
      const { aps } = JSON.parse(json, (_name, value) => {
        // Parsers refuse a whole payload with half a surrogate pair.
        assert.ok(typeof value !== "string" || value.isWellFormed());
        return value;
      });
      assert.ok(aps.alert.body.endsWith(` (×${paged.count})`));
    }),
    { numRuns: 60 },
  );
});

test("a long body fills the payload", () => {
  const json = buildPayload(noticeOf({ ...event, template: "x".repeat(9000) }), {
    criticalAlerts: true,
  });
  assert.equal(Buffer.byteLength(json), 4096);
});

test("a text is cut between graphemes, as late as possible", () => {
  const whole = new Intl.Segmenter("en", { granularity: "grapheme" });
  fc.assert(
    fc.property(nasty, fc.integer({ min: 3, max: 300 }), (text, max) => {
      const cut = cutToBytes(text, max);
      const bytes = (part: string) => Buffer.byteLength(JSON.stringify(part)) - 2;
      if (cut === text) return assert.ok(bytes(text) <= max);
      assert.ok(bytes(cut) <= max && bytes(text) > max);
      const kept = cut.slice(0, -1);
      assert.ok(cut.endsWith("…") && text.startsWith(kept));
      const next = whole.segment(text).containing(kept.length);
      assert.equal(next?.index, kept.length);
      assert.ok(bytes(kept + (next?.segment ?? "")) > max - 3);
    }),
    { numRuns: 300 },
  );
});

test("a family emoji is kept whole or not at all", () => {
  assert.equal(cutToBytes("ab👩‍👩‍👧‍👦cd", 12), "ab…");
  assert.equal(cutToBytes("ab👩‍👩‍👧‍👦cd", 31), "ab👩‍👩‍👧‍👦cd");
});

test("the collapse id is tenant and alert, printable, at most 64 bytes, and tells alerts apart", () => {
  assert.equal(collapseId("0011223344556677", "42"), "0011223344556677.42");
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (a, b) => {
      const [one, two] = [a, b].map((id) => collapseId("0011223344556677", id));
      assert.match(one ?? "", /^[\w.-]{1,64}$/);
      assert.equal(one === two, a === b);
    }),
  );
  assert.equal(collapseId("0011223344556677", "9".repeat(60)).length, 64);
});
