import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Condition,
  compileCondition,
  condition,
  conditions,
  silenceConditions,
} from "../../../src/core/projects/condition.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";

const holds = (op: Condition["op"], value: Condition["value"], sent?: string) =>
  compileCondition(condition.parse({ key: "k", op, value }))(
    sent === undefined ? null : { k: sent },
    anyTime,
  );

const table: [
  op: Condition["op"],
  value: Condition["value"],
  sent: string | undefined,
  is: boolean,
][] = [
  ["in", ["a", "b"], "b", true],
  ["in", ["a", "b"], "B", false],
  ["in", ["a", ""], undefined, false],
  ["in", [""], "", true],
  ["matches", "web-[0-9]+", "web-17", true],
  ["matches", "web-[0-9]+", "my web-17", false],
  ["matches", "web-1", "web-17", false],
  ["matches", "web|db", "db", true],
  ["matches", "(?i)WEB.*", "webserver", true],
  ["matches", ".*", undefined, false],
  ["matches", "", "", true],
  ["matches", "a.c", "a\nc", false],
  ["not_in", ["a", "b"], "b", false],
  ["not_in", ["a", "b"], "B", true],
  ["not_in", ["a", ""], undefined, true],
  ["not_in", [""], "", false],
  ["not_matches", "web-1", "web-1", false],
  ["not_matches", "web-1", "web-17", true],
  ["not_matches", ".*", undefined, true],
];
for (const [op, value, sent, is] of table)
  test(`${sent} ${op} ${JSON.stringify(value)}: ${is}`, () =>
    assert.equal(holds(op, value, sent), is));

test("what is no list, or no pattern that takes linear time, is refused when it is written", () => {
  const fault = (op: string, value: unknown) => {
    const read = conditions.safeParse([{ key: "k", op, value }]);
    return read.success ? null : read.error.issues.map(({ path, message }) => [path[1], message]);
  };
  assert.deepEqual(fault("in", "a"), [["value", "must be a list of strings with in"]]);
  assert.deepEqual(fault("in", []), [["value", "must name at least one"]]);
  assert.deepEqual(fault("eq", ["a"]), [["value", "is no list with eq"]]);
  assert.deepEqual(fault("matches", 7), [["value", "must be a pattern with matches"]]);
  assert.deepEqual(fault("not_in", "a"), [["value", "must be a list of strings with not_in"]]);
  assert.deepEqual(fault("not_matches", []), [["value", "must be a pattern with not_matches"]]);
  assert.match(String(fault("not_matches", "(")), /is no pattern: /);
  assert.deepEqual(fault("matches", "x".repeat(257)), [
    ["value", "must have at most 256 characters"],
  ]);
  for (const pattern of ["(", "(?=x)", "(a)\\1", "[z-a]"])
    assert.match(String(fault("matches", pattern)), /is no pattern: /, pattern);
  assert.match(String(fault("matches", "a{2000}")), /^value,comes to 2002 steps /);
  assert.equal(fault("matches", "x".repeat(256)), null);
});

test("a pattern that can't be run now is in doubt, whichever way it is asked", () => {
  const never = { ...anyTime, run: () => null };
  for (const op of ["matches", "not_matches"] as const)
    assert.equal(compileCondition({ key: "k", op, value: "a" })({ k: "a" }, never), null);
});

test("a silence compares by no opposite of a list or a pattern: what isn't known must ring", () => {
  for (const op of ["not_in", "not_matches"])
    assert.equal(
      silenceConditions.safeParse([{ key: "k", op, value: op === "not_in" ? ["a"] : "a" }]).success,
      false,
    );
  assert.ok(silenceConditions.safeParse([{ key: "k", op: "matches", value: "a" }]).success);
});

test("a pattern takes what it takes as a regular expression of this language, where both know it", () => {
  const atom = fc.constantFrom(
    "a",
    "b",
    "[ab]",
    ".",
    "a?",
    "b*",
    "(ab)+",
    "(a|b)",
    "a{2}",
    "b{0,3}",
  );
  const pattern = fc.array(atom, { maxLength: 6 }).map((atoms) => atoms.join(""));
  const value = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 10 });
  fc.assert(
    fc.property(pattern, value, (text, sent) => {
      assert.equal(holds("matches", text, sent), new RegExp(`^(?:${text})$`).test(sent));
    }),
  );
});

test("a long text of digits that is no number costs no more than another", () => {
  const holds = compileCondition({ key: "n", op: "gte", value: 5 });
  const before = process.cpuUsage();
  for (let i = 0; i < 200; i++) assert.equal(holds({ n: `${"1".repeat(4095)}x` }, anyTime), false);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 400_000, `${(user + system) / 1000} ms`);
  for (const n of ["5", "5.", "5.5", "+.5e1", "1e1"]) assert.equal(holds({ n }, anyTime), true, n);
  for (const n of [".", "", "5..", "0x10", "e5"]) assert.equal(holds({ n }, anyTime), false, n);
});

test("a pattern that is refused for its size is told so once, and isn't compiled", () => {
  const one = (value: string) => ({ key: "k", op: "matches", value });
  const faults = (all: object[]) =>
    (conditions.safeParse(all).error?.issues ?? []).map(({ path, message }) => [
      path.join("/"),
      message.slice(0, 12),
    ]);
  assert.deepEqual(faults([one("(a{1000}){9}("), one("(")]), [
    ["0/value", "comes to 903"],
    ["1/value", "is no patter"],
  ]);
});
