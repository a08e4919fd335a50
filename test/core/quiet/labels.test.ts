import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabelCondition } from "../../../src/core/projects/condition.ts";
import { createPatternTime } from "../../../src/core/projects/pattern.ts";
import { compileLabels, type Labelled } from "../../../src/core/quiet/labels.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";

const takes = (of: Labelled, ...conditions: LabelCondition[]) =>
  compileLabels(conditions)?.(of, anyTime);
const one = (labels: Record<string, string>): Labelled => ({ labels, varied: {}, varied_more: [] });
const several = (values: string[], more: string[] = []): Labelled => ({
  labels: { host: values[0] ?? "" },
  varied: { host: values },
  varied_more: more,
});

const is = (op: LabelCondition["op"], value: string | string[]): LabelCondition => ({
  key: "host",
  op,
  value,
});
const cases: [what: string, of: Labelled, condition: LabelCondition, taken: boolean][] = [
  ["the value", one({ host: "db7" }), is("eq", "db7"), true],
  ["another", one({ host: "db8" }), is("eq", "db7"), false],
  ["the whole value", one({ host: "db7.eu" }), is("matches", "db."), false],
  ["a line end in it", one({ host: "db7\n" }), is("matches", "db."), false],
  ["no opposite of half", one({ host: "db7.eu" }), is("not_matches", "db."), true],
  ["a list", one({ host: "db7" }), is("in", ["db7", "db8"]), true],
  ["off a list", one({ host: "db9" }), is("not_in", ["db7", "db8"]), true],
  ["missing: eq", one({}), is("eq", ""), false],
  ["missing: in", one({}), is("in", [""]), false],
  ["missing: matches", one({}), is("matches", ".*"), false],
  ["missing: neq", one({}), is("neq", ""), true],
  ["missing: not_in", one({}), is("not_in", [""]), true],
  ["missing: not_matches", one({}), is("not_matches", ".*"), true],
  ["a name of every object", one({}), { key: "constructor", op: "matches", value: ".*" }, false],
  ["all values", several(["db7", "db8"]), is("matches", "db."), true],
  ["one value only", several(["db7", "web"]), is("matches", "db."), false],
  ["one value is the other", several(["db7", "web"]), is("neq", "web"), false],
  ["none is the other", several(["db7", "web"]), is("neq", "x"), true],
  ["an unknown one", several(["db7", "db8"], ["host"]), is("matches", "db."), false],
  ["an unknown one of another", several(["db7", "db8"], ["pod"]), is("matches", "db."), true],
  ["an unknown one: neq", several(["db7", "db8"], ["host"]), is("neq", "x"), false],
  ["a pattern too large to run", one({ host: "a" }), is("not_matches", "(x{9}){99}"), false],
];
for (const [what, of, condition, taken] of cases)
  test(`labels take ${what}: ${taken}`, () => assert.equal(takes(of, condition), taken));

test("a silence without labels looks at none", () => assert.equal(compileLabels([]), null));

test("where patterns have no time left, no label is taken", () => {
  const spent = createPatternTime({ mono: () => 0, now: () => 0 }, 0);
  const never = { ...spent, run: () => null };
  const conditions = (["matches", "not_matches"] as const).map((op) => is(op, "db."));
  for (const condition of conditions)
    assert.equal(compileLabels([condition])?.(one({ host: "web" }), never), false);
});

const word = fc.constantFrom("", "a", "b", "ab", "db7", "web");
const name = fc.constantFrom("host", "pod", "__proto__");
const anEvent = fc.dictionary(name, word, { maxKeys: 3, noNullPrototype: true });
const aCondition: fc.Arbitrary<LabelCondition> = fc.oneof(
  fc.record({ key: name, op: fc.constantFrom("eq", "neq"), value: word }),
  fc.record({
    key: name,
    op: fc.constantFrom("in", "not_in"),
    value: fc.array(word, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: name,
    op: fc.constantFrom("matches", "not_matches"),
    value: fc.constantFrom("a|b", "d.*", ".+", "[ab]*", ""),
  }),
) as fc.Arbitrary<LabelCondition>;

/** A value's names, looked up in no prototype. */
type Names = Map<string, string[]>;

/** What is kept of an alert's labels, by its events, oldest first. */
function keptOf(events: readonly Record<string, string>[], most: number): [Labelled, Names] {
  const seen: Names = new Map();
  for (const event of events)
    for (const [name, value] of Object.entries(event)) {
      const before = seen.get(name) ?? [];
      seen.set(name, [value, ...before.filter((one) => one !== value)]);
    }
  const entries = [...seen];
  const ofMany = entries.filter(([, values]) => values.length > 1);
  return [
    {
      labels: Object.fromEntries(entries.map(([name, [last = ""]]) => [name, last])),
      varied: Object.fromEntries(ofMany.map(([name, values]) => [name, values.slice(0, most)])),
      varied_more: ofMany.filter(([, values]) => values.length > most).map(([name]) => name),
    },
    seen,
  ];
}

function passes({ op, value }: LabelCondition, sent: string): boolean {
  const texts = Array.isArray(value) ? value : [String(value)];
  const isPattern = op === "matches" || op === "not_matches";
  const found = isPattern
    ? new RegExp(`^(?:${texts[0]})$(?!\n)`, "u").test(sent)
    : texts.includes(sent);
  return (op === "eq" || op === "in" || op === "matches") === found;
}

test("labels are taken where every value that ever came passes, and only there", () => {
  let taken = 0;
  fc.assert(
    fc.property(
      fc.array(anEvent, { maxLength: 8 }),
      fc.array(aCondition, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 5 }),
      (events, conditions, most) => {
        const [kept, seen] = keptOf(events, most);
        const expected = conditions.every((condition) => {
          const values = seen.get(condition.key) ?? [];
          if (values.length === 0) return /^n/.test(condition.op);
          return values.length <= Math.max(1, most) && values.every((v) => passes(condition, v));
        });
        assert.equal(takes(kept, ...conditions), expected);
        if (expected) taken += 1;
      },
    ),
    { numRuns: 2000 },
  );
  assert.ok(taken > 200, `${taken} were taken`);
});

const write = (labels: object[]) =>
  silenceWrite.safeParse({ labels, ends_at: 10, reason: "r" }).error?.issues[0]?.path.join("/");
const refused: [what: string, labels: object[], at: string | undefined][] = [
  ["20 of them", Array.from({ length: 20 }, () => is("eq", "a")), undefined],
  ["21 of them", Array.from({ length: 21 }, () => is("eq", "a")), "labels"],
  ["numbers in order", [{ key: "n", op: "gte", value: 1 }], "labels/0/op"],
  ["a pattern that is none", [is("not_matches", "(")], "labels/0/value"],
  ["a pattern too large", [is("matches", "(x{9}){99}")], "labels/0/value"],
  ["patterns that are much in all", Array(5).fill(is("matches", "x{500}")), "labels"],
];
for (const [what, labels, at] of refused)
  test(`a silence's labels may be ${what}: ${at ?? "yes"}`, () => assert.equal(write(labels), at));
