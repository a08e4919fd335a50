import assert from "node:assert/strict";
import { test } from "node:test";
import {
  capabilityIn,
  noticeOfPush,
  outcomeNotice,
  type Pressed,
  pressedAs,
  tapAddress,
} from "../../../src/web/browser/worker/notice.ts";
import { pushedNext } from "../../../src/web/browser/worker/pushed-page.ts";
import { readTold } from "../../../src/web/browser/worker/told.ts";
import { told } from "../../support/told.ts";

const pictures = { icon: "/icon", badge: "/badge" };
const ACK = "https://box.test/box/ack/abc";

test("a page stays, rings on each step and can be taken; what tells how it went on takes its place without a sound", () => {
  const { title, options } = noticeOfPush(told({}, { ack: ACK }), pictures);
  assert.equal(title, "CRITICAL payments: no payment goes through");
  assert.deepEqual(
    [options.tag, options.renotify, options.requireInteraction, options.silent],
    ["alert-131", true, true, undefined],
  );
  assert.ok(options.vibrate && options.vibrate.length > 0);
  assert.deepEqual(
    options.actions?.map(({ title: name }) => name),
    ["Acknowledge", "Open"],
  );
  const without = noticeOfPush(told(), pictures).options.actions;
  assert.deepEqual(
    without?.map(({ action }) => action),
    ["open"],
  );

  const note = noticeOfPush(told({ silent: true }, { kind: "note" }), pictures).options;
  // Browsers refuse a silent one that vibrates, or rings again.
  assert.deepEqual(
    [note.silent, note.vibrate, note.renotify, note.actions, note.tag],
    [true, undefined, undefined, undefined, "alert-131"],
  );
  const shift = noticeOfPush(told({ tag: "shift-1" }, { kind: "shift" }), pictures).options;
  assert.deepEqual(
    shift.actions?.map(({ title: name }) => name),
    ["I’m here"],
  );
  const test = noticeOfPush(told({ tag: "test" }, { kind: "test" }), pictures).options;
  assert.deepEqual([test.requireInteraction, test.actions], [false, []]);
});

test("only a push of a box is read as one", () => {
  assert.equal(readTold({ web_push: 8030, notification: told() })?.tag, "alert-131");
  for (const other of [null, 1, "x", {}, { notification: { title: 1 } }, { notification: {} }])
    assert.equal(readTold(other), null);
});

test("what became of the button is told in place of the alert: taken, somebody else's, or not acknowledged and who is next", () => {
  const now = 1_767_579_000_000;
  const at = Math.floor(Date.UTC(2026, 0, 5, 2, 10, 31) / 1000);
  const how = { now, zone: "UTC", pictures };
  const shown = (pressed: Pressed, changes = {}) => {
    const { title, options } = outcomeNotice(told({}, changes), pressed, how);
    return { title, body: options.body ?? "", options };
  };
  const taken = shown(
    pressedAs(200, {
      state: "acknowledged",
      acked_by: "Ann",
      acked_at: at,
      said: "You have it. Its ladder has stopped.",
    }),
  );
  assert.equal(taken.title, "You have it. Ladder stopped 02:10:31");
  assert.deepEqual([taken.options.silent, taken.options.tag], [true, "alert-131"]);

  const other = pressedAs(200, { state: "acknowledged", acked_by: "Bob", said: "Bob has it." });
  assert.equal(shown(other).title, "Bob has it.");
  const dead = {
    state: "open",
    said: "It can't be acknowledged from here any more: open the alert.",
  };
  assert.equal(shown(pressedAs(410, dead)).title, dead.said);

  const next = { who: "Bob", at: now / 1000 + 900 };
  const unreached = shown({ kind: "unreached" }, { next });
  assert.match(
    unreached.body,
    /^Not acknowledged: the box can’t be reached\. Bob is paged at 02:25\.\nCRITICAL payments/,
  );
  assert.equal(unreached.options.requireInteraction, true);
  assert.deepEqual(
    unreached.options.actions?.map(({ title }) => title),
    ["Try again", "Open"],
  );
  assert.match(shown({ kind: "unreached" }, { next: null }).body, /Nobody else is paged\./);
  const past = { who: "Bob", at: now / 1000 - 60 };
  assert.match(
    shown({ kind: "given-up" }, { next: past }).body,
    /given up after 15 minutes without the box\. Bob was to be paged at 02:09\./,
  );
  assert.match(shown(pressedAs(429, null)).body, /the box answered 429\./);
  assert.match(shown(pressedAs(404, "nothing")).body, /the box answered 404\./);
});

test("a tap opens the box's own address, whatever was pushed", () => {
  const table: [
    navigate: string,
    kind: "page" | "test" | "shift" | "note",
    base: string,
    to: string,
  ][] = [
    ["https://box.test/a/131?from=push", "page", "", "/a/131?from=push"],
    ["https://evil.test/x", "page", "/box", "/box/a/131?from=push"],
    ["https://box.test/box/me/devices", "test", "/box", "/box/me/devices"],
    ["/oncall", "shift", "/box", "/box/oncall"],
    ["//evil.test/x", "note", "", "/alerts"],
    ["javascript:alert(1)", "note", "", "/alerts"],
    ["", "note", "/box", "/box/alerts"],
  ];
  for (const [navigate, kind, base, to] of table)
    assert.equal(tapAddress(told({ navigate }, { kind }), base), to, navigate);
  assert.equal(capabilityIn(ACK), "abc");
});

test("the ladder's next step is told with its hour", () => {
  const now = 1_767_579_000_000;
  const words = (data: object) => pushedNext(told({}, data), now, "UTC");
  const next = { who: "Bob", at: now / 1000 + 900 };
  assert.equal(words({ next }), "Rung 1 of 2, then Bob at 02:25, if nothing changed.");
  assert.equal(words({ next, step: 0 }), "Next: Bob at 02:25, if nothing changed.");
  assert.equal(words({ next: null }), "Rung 1 of 2.");
  assert.equal(words({ next: null, step: 0 }), "");
});
