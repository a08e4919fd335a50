import assert from "node:assert/strict";
import { test } from "node:test";
import type { DirectMessage } from "../../../../src/out/services/direct-message.ts";
import {
  PUSH_BYTES,
  type PushFacts,
  pushPayload,
} from "../../../../src/out/services/web-push/payload.ts";
import { directMessage } from "../../../support/direct.ts";
import { eventBody } from "../../../support/events.ts";
import fc, { anyCharacter } from "../../../support/property.ts";

const NOW = Date.UTC(2026, 10, 22, 2, 10) / 1000;
const at = (hours: number, minutes: number) => Date.UTC(2026, 10, 22, hours, minutes) / 1000;

const down = eventBody({
  event: "alert.escalated",
  alert_id: "131",
  project: "payments",
  rule: "payments are down",
  level: 500,
  count: 128,
  first_seen: at(1, 6),
  escalation_level: 1,
  template: "no payment goes through at <*>",
  last_message: "no payment goes through",
});
const bob = { people: [{ name: "Bob", why: "rung 2" }], more: 0 };
const page = directMessage({
  events: [down],
  level: 500,
  link: "https://box.example/a/131",
  said: { steps: 2, next: { at: at(1, 25), ...bob } },
});

const push = (message: DirectMessage, more: Partial<PushFacts> = {}) =>
  pushPayload({
    message,
    receipt: "r3c31pt",
    base: "https://box.example",
    lockScreen: "all",
    zone: "Europe/Berlin",
    now: NOW,
    ...more,
  });

test("a page says how bad, where and what; since when, which step runs and who is next", () => {
  assert.deepEqual(push(page), {
    web_push: 8030,
    notification: {
      title: "CRITICAL payments: no payment goes through",
      body: "You're first, Bob 02:25 · 128 × since 02:06 · rung 1 of 2",
      navigate: "https://box.example/a/131?from=push",
      mutable: true,
      tag: "alert-131",
      data: {
        kind: "page",
        alert: "131",
        project: "payments",
        rule: "payments are down",
        level: 500,
        called: "no payment goes through",
        count: 128,
        step: 1,
        steps: 2,
        next: { who: "Bob", at: at(1, 25) },
        ack: "https://box.example/ack/canary-capability",
        receipt: "r3c31pt",
        server_time: NOW,
      },
    },
  });
  const body = (message: DirectMessage, more = {}) => push(message, more).notification.body;
  assert.equal(
    body(page, { zone: null }),
    "You're first, Bob 01:25 UTC · 128 × since 01:06 UTC · rung 1 of 2",
  );
  const again = { ...down, event: "alert.renotified" as const, first_seen: at(-20, 0) };
  assert.equal(
    body({ ...page, events: [again], said: { steps: 2, next: null } }),
    "Still open, then nobody · 128 × since Sat 05:00 · rung 1 of 2",
  );
  assert.equal(
    body({ ...page, said: null, events: [{ ...down, escalation_level: 0 }] }),
    "128 × since 02:06",
  );
  const drill = push({ ...page, events: [{ ...down, drill: true }] }).notification.title;
  assert.equal(drill, "DRILL · CRITICAL payments: no payment goes through");
});

test("what became of an alert takes the page's place without a sound", () => {
  const note = (event: "alert.acknowledged" | "alert.resolved", said: DirectMessage["said"]) =>
    push({ ...page, purpose: "note", ack: null, events: [{ ...down, event }], said }).notification;
  const taken = note("alert.acknowledged", { by: "Ann" });
  assert.deepEqual(
    [taken.title, taken.body, taken.tag, taken.silent, taken.data.kind, taken.data.ack],
    [
      "Ann has it: payments: no payment goes through",
      "Acknowledged",
      "alert-131",
      true,
      "note",
      null,
    ],
  );
  const over = note("alert.resolved", { by: "Bob", lasted: 720 });
  assert.deepEqual(
    [over.title, over.body],
    ["Resolved: payments: no payment goes through", "Resolved by Bob after 12 min"],
  );
});

test("a locked screen says no more than its owner wants", () => {
  const shown = push(page, { lockScreen: "place" }).notification;
  assert.deepEqual([shown.title, shown.body], ["Alert in payments", ""]);
  const both = { ...page, events: [down, { ...down, alert_id: "132" }], title: "2 alerts: secret" };
  const several = push(both, { lockScreen: "place" }).notification;
  assert.deepEqual([several.title, several.tag], ["2 alerts", "alerts"]);
});

test("several alerts lead to the list and none is taken unseen; a test and a shift are about none", () => {
  const both = { ...page, events: [down, { ...down, alert_id: "132" }], title: "2 alerts" };
  const { navigate, data } = push(both).notification;
  assert.deepEqual([navigate, data.alert, data.ack], ["https://box.example/alerts", null, null]);
  const none = { ...page, events: [], said: null, ack: null, lines: [], level: 0 };
  const shift = push({ ...none, purpose: "shift", id: "9", title: "You're on call" }).notification;
  assert.deepEqual([shift.tag, shift.navigate], ["shift-9", "https://box.example/oncall"]);
  const tried = push({ ...none, purpose: "test" }, { base: null }).notification;
  assert.deepEqual([tried.tag, tried.navigate], ["test", "/me/devices"]);
});

test("whatever an alert holds, its push is valid JSON of at most 3 kB that breaks no character", () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 400 }),
    fc.string({ unit: fc.constantFrom("💥", "\ud800", "\u0001", '"', "\\", "é"), maxLength: 900 }),
  );
  const url = fc.nat(1_500).map((n) => `https://box.example/${"x".repeat(n)}`);
  fc.assert(
    fc.property(
      fc.record({ project: text, rule: text, template: text, last_message: text, who: text, url }),
      fc.constantFrom("all" as const, "place" as const),
      fc.constantFrom("page" as const, "note" as const),
      ({ who, url: long, ...texts }, lockScreen, purpose) => {
        const next = { at: NOW, people: [{ name: who, why: "" }], more: 3 };
        const message = {
          ...page,
          purpose,
          events: [{ ...down, ...texts }],
          said: { by: who, steps: 2, next },
          ack: { url: long, handle: "h" },
        };
        const payload = push(message, { lockScreen, base: long });
        const json = JSON.stringify(payload);
        assert.ok(Buffer.byteLength(json) <= PUSH_BYTES);
        assert.deepEqual(JSON.parse(json), payload);
        const { title, body, data } = payload.notification;
        assert.ok([title, body, data.called, data.rule ?? ""].every((one) => one.isWellFormed()));
      },
    ),
    { numRuns: 200 },
  );
});

test("the longest that there can be fits, of each kind of character, and is read as far as it goes", () => {
  const cutShort: string[] = [];
  for (const char of ["💥", '"', "\\", "é", "\u2028", "\u007f", "\ud800", "\u0001", "a"])
    for (const kind of ["one", "several"])
      for (const room of [1, 560]) {
        const long = char.repeat(5_000);
        const url = `https://box.example/${"x".repeat(room)}`;
        const event = { ...down, project: long, rule: long, template: long, last_message: long };
        const events = kind === "one" ? [event] : [event, { ...event, alert_id: "132" }];
        const next = { at: NOW, people: [{ name: long, why: "" }], more: 3 };
        const message = {
          ...page,
          events,
          title: `5 alerts: ${long}`,
          lines: [long, long, long, long],
          said: { by: long, steps: 2, next },
          ack: { url, handle: "h" },
        };
        const payload = push(message, { base: url });
        const bytes = Buffer.byteLength(JSON.stringify(payload));
        const what = `${JSON.stringify(char)} ${kind} ${room}: ${bytes} bytes`;
        assert.ok(bytes <= PUSH_BYTES, what);
        const { title, body, navigate, data } = payload.notification;
        assert.ok(
          [title, body, data.called].every((one) => one.isWellFormed()),
          what,
        );
        assert.ok(title.length > 8 && navigate.startsWith("https://box.example/x"), what);
        if (kind === "one") assert.equal(data.ack, url, "it can be taken");
        if ([...body].length < 900 && kind === "several") cutShort.push(char);
      }
  assert.ok(cutShort.includes("💥") && !cutShort.includes("a"), "cut where it has to be");
});
