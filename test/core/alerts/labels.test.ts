import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AlertLabels, LabelBook, labelLimits } from "../../../src/core/alerts/label-book.ts";
import {
  joinedLabels,
  labelColumns,
  labelsFrom,
  labelsOf,
  NO_LABELS,
  withKeys,
} from "../../../src/core/alerts/labels.ts";
import { createPatternTime } from "../../../src/core/projects/pattern.ts";
import { compileLabels } from "../../../src/core/quiet/labels.ts";
import fc from "../../support/property.ts";

/** What an alert knows of the keys of its events. */

type Keys = Record<string, string>;

const heard = (events: readonly Keys[], first: readonly string[] = []): AlertLabels =>
  events.reduce((known, keys) => withKeys(known, keys, first), NO_LABELS);

const plain = ({ labels, varied, varied_more }: AlertLabels) => ({
  labels: { ...labels },
  varied: { ...varied },
  varied_more: varied_more.toSorted(),
});

/** By the sentence: all values of a name in the order of their last use. */
function byTheSentence(events: readonly Keys[]) {
  const uses = new Map<string, string[]>();
  for (const keys of events)
    for (const [name, value] of Object.entries(keys))
      uses.set(name, [value, ...(uses.get(name) ?? []).filter((one) => one !== value)]);
  const all = [...uses];
  const several = all.filter(([, values]) => values.length > 1);
  return {
    labels: Object.fromEntries(all.map(([name, values]) => [name, values[0]])),
    varied: Object.fromEntries(several.map(([name, values]) => [name, values.slice(0, 5)])),
    varied_more: several
      .filter(([, values]) => values.length > 5)
      .map(([name]) => name)
      .toSorted(),
  };
}

const name = fc.constantFrom("host", "service", "7", "constructor", "__proto__", "toString");
const value = fc.constantFrom("", "a", "b", "c", "d", "e", "f", "g", "constructor");
const keys = fc.array(fc.tuple(name, value), { maxLength: 4 }).map((pairs): Keys => {
  const made: Keys = Object.create(null);
  for (const [key, text] of pairs) made[key] = text;
  return made;
});

test("labels are the union of the keys, each with its last value, and what varied is known", () => {
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 30 }), fc.subarray(["host", "7"]), (events, first) => {
      assert.deepEqual(plain(heard(events, first)), byTheSentence(events));
    }),
  );
});

/** Of a few shapes again and again, as senders have them; some values are so long that there is no room for all. */
const shaped = fc
  .array(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 })
  .chain((shapes) => {
    const long = fc.constantFrom(
      "a",
      "b",
      "é",
      "x".repeat(3000),
      "é".repeat(2000),
      "y".repeat(7000),
    );
    const values = fc.array(long, { minLength: 5, maxLength: 5 });
    const event = fc.tuple(fc.constantFrom(...shapes), values).map(([names, values]): Keys => {
      const pairs = names.map((one, i) => [one, values[i]]);
      return Object.assign(Object.create(null), Object.fromEntries(pairs));
    });
    return fc.array(event, { maxLength: 20 });
  });

for (const [of, events] of [
  ["any shape", fc.array(keys, { maxLength: 20 })],
  ["a few shapes without room for all", shaped],
] as const)
  test(`a book that hears events of ${of} one by one, some again, knows what a fresh one does`, () => {
    const often = events.chain((all) =>
      fc
        .array(fc.integer({ min: 1, max: 3 }), { minLength: all.length, maxLength: all.length })
        .map((times) => all.map((said, i) => [said, times[i] ?? 1] as const)),
    );
    fc.assert(
      fc.property(often, fc.subarray(["host", "7"]), (events, first) => {
        const book = new LabelBook(NO_LABELS);
        let known = NO_LABELS;
        for (const [said, times] of events)
          for (let n = 0; n < times; n++) {
            const next = withKeys(known, { ...said }, first);
            assert.equal(book.hear({ ...said }, first), next !== known);
            assert.deepEqual(book.labels, next);
            known = next;
          }
      }),
    );
  });

test("what is known is the same after it was written and read, and what is nothing new is the same thing", () => {
  fc.assert(
    fc.property(fc.array(keys), keys, (events, last) => {
      const known = heard([...events, last]);
      assert.deepEqual(labelsOf(labelColumns(known)), known);
      assert.deepEqual(labelsFrom(JSON.stringify(known)), known);
      assert.equal(withKeys(known, last, []), known);
      assert.equal(withKeys(known, null, []), known);
    }),
  );
});

test("two alerts that turn out to be one know what one would know that heard both", () => {
  fc.assert(
    fc.property(fc.array(keys), fc.array(keys), (before, after) => {
      // Both keep five values: with more, which of them were used last is known of each alone.
      const joined = joinedLabels(heard(before), heard(after), []);
      const one = plain(heard([...before, ...after]));
      assert.deepEqual({ ...joined.labels }, one.labels);
      for (const [of, values] of Object.entries(joined.varied)) {
        assert.equal(values[0], joined.labels[of]);
        assert.ok(values.length <= 5);
        if (!joined.varied_more.includes(of)) assert.deepEqual(values, one.varied[of]);
      }
      assert.deepEqual(joined.varied_more.toSorted(), one.varied_more);
    }),
  );
});

const bytesOf = (labels: Keys) =>
  Object.entries(labels).reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);

describe("where there is no room for all", () => {
  const many = (count: number, of = "") =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${of}${i}`, "v"]));

  test("64 names are kept in the order sent, and those that the rule names before them", () => {
    const { labels } = heard([many(100)]);
    assert.deepEqual(Object.keys(labels), Object.keys(many(64)));
    const named = heard([{ ...many(100), host: "db7" }], ["host", "key99"]).labels;
    const kept = ["host", "key99", ...Object.keys(many(62))];
    assert.deepEqual(Object.keys(named), kept);
  });

  test("a name of the rule's that comes later takes the place of the last other one", () => {
    const { labels } = heard([many(64), { host: "db7" }], ["host"]);
    assert.deepEqual([labels["host"], labels["key62"], labels["key63"]], ["db7", "v", undefined]);
    assert.equal(heard([many(64), { host: "db7" }]).labels["host"], undefined);
  });

  test("what has no room leaves its name, and that its values aren't known", () => {
    const known = heard([{ a: "x".repeat(8000), env: "y".repeat(500) }, { env: "prod" }]);
    assert.deepEqual(known.labels["env"], "prod");
    assert.deepEqual([known.varied["env"], known.varied_more], [["prod"], ["env"]]);
    const never = heard([{ env: "y".repeat(9000) }]);
    assert.deepEqual(plain(never), { labels: {}, varied: { env: [] }, varied_more: ["env"] });
    assert.deepEqual(labelsOf(labelColumns(never)), never);
    const time = createPatternTime({ mono: () => 0, now: () => 0 });
    const other = { key: "env", op: "neq", value: "prod" } as const;
    const takes = compileLabels([other]);
    assert.equal(takes?.(never, time), false);
    assert.equal(takes?.(heard([{ host: "db7" }]), time), true);
    // With so many that their names aren't kept, any label may have had a value.
    assert.equal(takes?.(heard([many(64), many(200, "x")]), time), false);
    assert.equal(Object.keys(heard([many(64), many(200, "x")]).varied).length, 64);
  });

  test("8 KiB of UTF-8 are kept, and what doesn't fit is skipped, not what comes after it", () => {
    const { labels } = heard([{ a: "ä".repeat(4000), b: "x".repeat(200), c: "x".repeat(190) }]);
    assert.deepEqual(Object.keys(labels), ["a", "c"]);
    assert.equal(Object.keys(heard([{ a: "x".repeat(8191) }]).labels).length, 1);
    assert.equal(Object.keys(heard([{ a: "x".repeat(8192) }]).labels).length, 0);
  });

  test("a value that doesn't fit leaves the one before, and says that there are others", () => {
    const known = heard([{ a: "x".repeat(8000), b: "1" }, { b: "y".repeat(500) }]);
    assert.equal(known.labels["b"], "1");
    assert.deepEqual(known.varied["b"], ["1"]);
    assert.deepEqual(known.varied_more, ["b"]);
  });

  test("nothing goes over its limit, whatever comes in whatever order", () => {
    const long = fc.nat(6000).map((n) => "é".repeat(n));
    const event = fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), long, { maxKeys: 40 });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), fc.array(fc.string()), (events, first) => {
        const { labels, varied, varied_more } = heard(events, first);
        assert.ok(Object.keys(labels).length <= labelLimits.names);
        assert.ok(bytesOf(labels) <= labelLimits.bytes);
        for (const [of, values] of Object.entries(varied)) {
          assert.ok(values.length <= labelLimits.values);
          assert.equal(values[0], labels[of]);
          assert.equal(new Set(values).size, values.length);
        }
        for (const of of varied_more) assert.ok(Object.hasOwn(varied, of));
        const all = Object.values(varied).flat();
        const least = Object.values(varied).map(([newest = ""]) => newest);
        const most = Math.max(labelLimits.variedBytes, Buffer.byteLength(least.join("")));
        assert.ok(Buffer.byteLength(all.join("")) <= most);
      }),
      { numRuns: 30 },
    );
  });
});
