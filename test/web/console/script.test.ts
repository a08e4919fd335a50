import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Markup } from "../../../src/ground/kit/html.ts";
import { agoWords, leftWords, spanWords } from "../../../src/web/browser/ago.ts";
import { isLetterKey, nextPress, pressName } from "../../../src/web/browser/keymap.ts";
import { mergeRows } from "../../../src/web/browser/rows.ts";
import {
  allTopics,
  createStreamReader,
  readTopics,
  type StreamEvent,
  shows,
  watches,
} from "../../../src/web/browser/stream.ts";
import { lookOf } from "../../../src/web/console/display.ts";
import { ago, since, until } from "../../../src/web/console/ui/times.ts";

/* What runs in browsers and needs none: the rest is tried in one, test/browser/console. */

function readAll(pieces: readonly string[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const read = createStreamReader((event) => events.push(event));
  for (const piece of pieces) read(piece);
  return events;
}

test("a stream is read as its events, whatever the pieces it comes in", () => {
  const text =
    'retry: 2000\n\n: \n\nid: a-1\nevent: change\ndata: {"topics":["alerts"]}\n\nevent: bye\ndata: {}\n\ndata:one\ndata: two\n\nevent: none\n\n';
  const whole = readAll([text]);
  assert.deepEqual(whole, [
    { id: "a-1", event: "change", data: '{"topics":["alerts"]}' },
    { id: "a-1", event: "bye", data: "{}" },
    { id: "a-1", event: "message", data: "one\ntwo" },
  ]);
  const ends = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(ends, fc.array(fc.nat(text.length * 2), { maxLength: 20 }), (end, cuts) => {
      // What ends in a lone CR is known to be a line only by what comes after it.
      const written = `${text.replaceAll("\n", end)}: ${end}`;
      const at = [0, ...cuts.filter((cut) => cut < written.length).sort((a, b) => a - b)];
      const pieces = at.map((from, index) => written.slice(from, at[index + 1] ?? written.length));
      assert.deepEqual(readAll(pieces), whole);
    }),
  );
});

test("an event without its empty line isn't told", () => {
  assert.deepEqual(readAll(["id: a-1\nevent: change\ndata: {}\n"]), []);
});

test("only a list of names is taken for topics", () => {
  assert.deepEqual(readTopics({ topics: ["alerts", 3, "alert:1"] }), ["alerts", "alert:1"]);
  for (const other of [null, 1, "alerts", {}, { topics: "alerts" }])
    assert.equal(readTopics(other), null);
});

test("a section watches names, and with a star all that begin so", () => {
  const table: [live: string, topics: string[], expected: boolean][] = [
    ["alerts alert:12", ["alert:12"], true],
    ["alerts alert:12", ["alert:120", "alert:1"], false],
    ["oncall:*", ["oncall:shop/weekly"], true],
    ["oncall:*", ["channels:shop"], false],
    ["", ["alerts"], false],
    [" alerts \n system ", ["system"], true],
  ];
  for (const [live, topics, expected] of table) assert.equal(watches(live, topics), expected, live);
  assert.equal(allTopics(["system alerts", " alerts  oncall:* ", ""]), "alerts,oncall:*,system");
});

test("what was drawn shows the changes up to its own, of the same start of the box", () => {
  const table: [drawn: string | null, told: string, expected: boolean][] = [
    ["a-9", "a-9", true],
    ["a-10", "a-9", true],
    ["a-9", "a-10", false],
    ["b-10", "a-9", false],
    [null, "a-1", false],
    ["", "", false],
    ["a", "a", false],
    ["a-9", "", false],
  ];
  for (const [drawn, told, expected] of table) assert.equal(shows(drawn, told), expected);
});

test("times are told in words, rounded down but for days, and what is left rounded up", () => {
  const spans: [seconds: number, text: string][] = [
    [0, "0 s"],
    [4.9, "4 s"],
    [59.9, "59 s"],
    [60, "1 min"],
    [3599, "59 min"],
    [3600, "1 h"],
    [86_399, "23 h"],
    [86_400, "1 day"],
    [1.4 * 86_400, "1 day"],
    [4.9 * 86_400, "5 days"],
    [5 * 86_400, "5 days"],
  ];
  for (const [seconds, text] of spans) assert.equal(spanWords(seconds), text);
  assert.equal(agoWords(240, false), "4 min ago");
  assert.equal(agoWords(240, true), "4 min");
  assert.equal(agoWords(4.9, false), "now");
  assert.equal(agoWords(-30, false), "now");
  const left: [seconds: number, text: string][] = [
    [192, "3:12"],
    [191.2, "3:12"],
    [9, "9 s"],
    [792, "13 min"],
    [3792, "1 h 3 min"],
    [86_400, "24 h"],
    [0, "0 s"],
    [-5, "0 s"],
    [3 * 86_400, "3 days"],
  ];
  for (const [seconds, text] of left) assert.equal(leftWords(seconds), text);
});

test("the script goes on in the words that the page came with", () => {
  const look = lookOf({ zone: "UTC" });
  const now = 1_800_000_000;
  const wordsOf = ({ markup }: Markup) => markup.replace(/<[^>]+>/g, "");
  fc.assert(
    fc.property(fc.nat({ max: 400_000 }), (seconds) => {
      const call = { now, look };
      assert.equal(agoWords(seconds, false), wordsOf(ago(call, now - seconds)));
      assert.equal(agoWords(seconds, true), wordsOf(since(call, now - seconds)));
      assert.equal(leftWords(seconds), wordsOf(until(call, now + seconds)));
    }),
  );
});

const press = (key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "altKey", true>> = {}) =>
  pressName({ ctrlKey: false, metaKey: false, altKey: false, ...held, key });

test("a press has one name, whatever the keyboard", () => {
  assert.equal(press("a"), "a");
  assert.equal(press("X"), "X");
  assert.equal(press("s", { ctrlKey: true }), "Ctrl S");
  assert.equal(press("k", { metaKey: true }), "Ctrl K");
  assert.equal(press("Enter", { ctrlKey: true }), "Ctrl Enter");
  assert.equal(press(" "), "Space");
  assert.equal(press("a", { altKey: true }), null);
  assert.deepEqual(
    ["a", "g a", "?", "Ctrl S", "Escape", "ArrowLeft"].filter((name) => isLetterKey(name)),
    ["a", "g a", "?"],
  );
});

test("two keys one after another are one, and what begins nothing is forgotten", () => {
  const known = new Set(["a", "g a", "g o", "o", "Ctrl S"]);
  const table: [begun: string | null, name: string, does: string | null, next: string | null][] = [
    [null, "a", "a", null],
    [null, "g", null, "g"],
    ["g", "a", "g a", null],
    ["g", "o", "g o", null],
    // Not for the box: the first key is spent, the second counts by itself.
    ["g", "x", null, null],
    ["g", "g", null, "g"],
    [null, "x", null, null],
    [null, "Ctrl S", "Ctrl S", null],
    [null, "Ctrl", null, null],
  ];
  for (const [begun, name, does, next] of table)
    assert.deepEqual(nextPress(begun, name, known), { does, begun: next }, `${begun} ${name}`);
});

const merge = (
  shown: string,
  fresh: string,
  { takesNew = false, goes = "", hasMore = false } = {},
) => {
  const { order, gone, held } = mergeRows([...shown], [...fresh], {
    takesNew,
    hasMore,
    goes: new Set(goes),
  });
  return { order: order.join(""), gone: [...gone].join(""), held: held.join("") };
};

test("rows stay where they are, those that left too, and new ones wait", () => {
  assert.deepEqual(merge("abc", "bac"), { order: "abc", gone: "", held: "" });
  assert.deepEqual(merge("abc", "ac"), { order: "abc", gone: "b", held: "" });
  assert.deepEqual(merge("abc", "xyac"), { order: "abc", gone: "b", held: "xy" });
  assert.deepEqual(merge("abc", ""), { order: "abc", gone: "abc", held: "" });
});

test("new rows come where the box has them once they are wanted", () => {
  const takesNew = true;
  assert.deepEqual(merge("abc", "xyac", { takesNew }), { order: "xyabc", gone: "b", held: "" });
  assert.deepEqual(merge("abc", "axbc", { takesNew }), { order: "axbc", gone: "", held: "" });
  assert.deepEqual(merge("abc", "abcx", { takesNew }), { order: "abcx", gone: "", held: "" });
  assert.deepEqual(merge("", "ab", { takesNew }), { order: "ab", gone: "", held: "" });
});

test("a row that says what became of it has left; one that was never shown isn't brought for that", () => {
  assert.deepEqual(merge("abc", "acb", { goes: "b" }), { order: "abc", gone: "b", held: "" });
  assert.deepEqual(merge("ac", "acb", { goes: "b", takesNew: true }), {
    order: "ac",
    gone: "",
    held: "",
  });
});

test("what slid to the next page hasn't left", () => {
  assert.deepEqual(merge("abcd", "xyab", { hasMore: true }), {
    order: "abcd",
    gone: "",
    held: "xy",
  });
  assert.deepEqual(merge("abcd", "xyad", { hasMore: true }), {
    order: "abcd",
    gone: "bc",
    held: "xy",
  });
});

test("whatever comes, no row is lost or doubled and those that were shown keep their order", () => {
  const rows = fc.uniqueArray(fc.constantFrom(..."abcdefghij"), { maxLength: 10 });
  fc.assert(
    fc.property(
      rows,
      rows,
      rows,
      fc.boolean(),
      fc.boolean(),
      (shown, fresh, goes, takesNew, hasMore) => {
        const options = { takesNew, hasMore, goes: new Set(goes) };
        const { order, gone, held } = mergeRows(shown, fresh, options);
        assert.deepEqual(
          order.filter((id) => shown.includes(id)),
          shown,
        );
        assert.equal(new Set(order).size, order.length);
        const brought = fresh.filter((id) => !shown.includes(id) && !goes.includes(id));
        assert.deepEqual(
          [...order.filter((id) => !shown.includes(id)), ...held].sort(),
          brought.sort(),
        );
        for (const id of gone) assert.ok(shown.includes(id));
      },
    ),
  );
});
