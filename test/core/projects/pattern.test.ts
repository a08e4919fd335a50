import assert from "node:assert/strict";
import { test } from "node:test";
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { compileCondition, conditions } from "../../../src/core/projects/condition.ts";
import {
  createPatternTime,
  sizeFault,
  syntaxFault,
  valuePattern,
} from "../../../src/core/projects/pattern.ts";
import { othersFirst } from "../../../src/ground/kit/slices.ts";
import { channels } from "../../../src/out/services/list.ts";
import { projectConfigOf } from "../../../src/records/config-file/shape.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";

const HUGE = "(\\pL?){1000}".repeat(19);

test("what people write for names of machines and services is no large pattern", () => {
  for (const text of [
    "prod-(web|db)-[0-9]{1,3}",
    "[a-z0-9-]{1,63}(\\.[a-z0-9-]{1,63}){1,3}",
    "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "(?i).*\\p{L}+ (timed out|refused).*",
    "(?i)[à-ÿa-z]+",
    ".*[0-9]{1,3}(\\.[0-9]{1,3}){3}.*",
    "x".repeat(256),
    "\\Q{1000}{1000}\\E",
    "[{1000}]{5}",
  ])
    assert.deepEqual([sizeFault(text), syntaxFault(text)], [null, null], text);
});

test("a pattern that comes to too much is refused without being compiled, however it hides it", () => {
  const before = performance.now();
  for (const text of [
    HUGE,
    "(\\pL?){1000}",
    "((a{30}){30}).*",
    "\\Q[\\E(\\pL?){1000}\\Q]\\E",
    "[[:alpha:]](\\pL?){1000}[]]",
    "[]](\\pL?){1000}[]]",
    "(?P<n>(?:[^]]x){500}y){2}",
    `(?i)${"[b-\u{1E940}]".repeat(40)}`,
    `(?i)${"[\\x{100}-\\x{10FFFF}]".repeat(10)}`,
    "\\PL".repeat(80),
  ])
    assert.match(
      String(sizeFault(text)),
      /at most 600 are taken|too wide to ignore the case/,
      text,
    );
  assert.ok(performance.now() - before < 200);
});

test("patterns of one rule come to so much together, and the fault names their list", () => {
  const one = { key: "k", op: "matches", value: "[a-z]{1,200}" };
  assert.equal(conditions.safeParse(Array(5).fill(one)).success, true);
  const read = conditions.safeParse(Array(7).fill(one));
  assert.match(String(read.error?.issues[0]?.message), /have patterns of \d+ steps: at most 2400/);
});

/** Patterns of all that there is, repeats in repeats included. */
const piece = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: "small" }, tie("atom"), tie("repeat"), tie("group"), tie("both")),
  atom: fc.constantFrom(
    "a",
    "b",
    ".",
    "\\pL",
    "\\p{Lu}",
    "[ab]",
    "[^a]",
    "[]a]",
    "[[:alpha:]]",
    "\\Qa{9}\\E",
    "\\x{61}",
    "^",
    "$",
    "\\b",
    "\\n",
    "(?i)",
    "",
    "[\\]a]",
    "-",
    "\\\\",
    "é",
  ),
  repeat: fc
    .tuple(
      tie("any"),
      fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,3}", "{7,}", "{3,12}", "{0}"),
    )
    .map(([one, count]) => `(?:${one})${count}`),
  group: fc
    .tuple(fc.constantFrom("(", "(?:", "(?P<n>", "(?i:"), tie("any"), tie("any"))
    .map(([open, a, b]) => `${open}${a}|${b})`),
  both: fc.tuple(tie("any"), tie("any")).map(([a, b]) => `${a}${b}`),
})).any as fc.Arbitrary<string>;

test("a pattern never compiles to more than was counted, and takes what it takes anywhere else", () => {
  const value = fc.string({
    unit: fc.constantFrom("a", "b", "é", "{", "9", "}", "\n"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(piece, value, (text, sent) => {
      let oracle: RE2JS;
      try {
        oracle = RE2JS.compile(text);
      } catch (error) {
        assert.ok(error instanceof RE2JSSyntaxException);
        assert.notEqual(syntaxFault(text), null);
        return;
      }
      const pattern = valuePattern(text);
      assert.ok(oracle.programSize() <= 2 * pattern.steps + 5, `${text}: ${oracle.programSize()}`);
      if (sizeFault(text) === null)
        assert.equal(anyTime.run(pattern, sent), oracle.testExact(sent), text);
    }),
  );
});

/** A clock by which each run takes so long: its time is looked at when it begins and when it ends. */
function ticking(ms: number) {
  let looks = 0;
  const clock = {
    at: 0,
    mono() {
      clock.at += looks++ % 2 === 1 ? ms : 0;
      return clock.at;
    },
    now: () => 0,
  };
  return clock;
}

test("what takes all the time is put off, small patterns go on a while, and the time comes back", () => {
  const clock = ticking(20);
  const time = createPatternTime(clock);
  const [large, small] = [valuePattern("[a-z]{1,250}x*"), valuePattern("web-[0-9]+")];
  const value = "a".repeat(4096);
  const said = Array.from({ length: 7 }, () => time.run(large, value));
  assert.deepEqual(said, [...Array(6).fill(false), null]);
  assert.equal(time.run(small, "web-1"), true);
  clock.at += 1000;
  assert.equal(time.run(large, value), false);
});

test("a machine that stands still for a second costs a small pattern next to nothing", () => {
  const time = createPatternTime(ticking(1000));
  const small = valuePattern("web-[0-9]+");
  for (let i = 0; i < 1000; i++) assert.equal(time.run(small, "web-1"), true);
});

test("all patterns of an event together hold nobody up, whatever the values", () => {
  const time = createPatternTime({ mono: () => performance.now(), now: () => 0 });
  const letters = (seed: number) =>
    Array.from({ length: 4096 }, (_, i) => String.fromCharCode(97 + ((i * i * seed) % 16))).join(
      "",
    );
  for (const value of ["é".repeat(4095).concat("!"), letters(7919)]) {
    const all = [
      "(\\pL?){100}",
      ".*(\\pL?){40}x",
      "(?:.*\\pL){80}",
      ".*a.{250}",
      "(a?b?){95}.*",
      ...Array.from({ length: 300 }, (_, i) => `.*${i}(\\pL?){40}x`),
    ].map((text) => compileCondition({ key: "k", op: "matches", value: text }));
    const before = process.cpuUsage();
    for (const holds of all) holds({ k: value }, time);
    const { user, system } = process.cpuUsage(before);
    // Four times of what is let through: other threads collect garbage, and the machine is shared.
    assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`);
  }
});

test("a pattern of an older program that is too large isn't run, and isn't known", () => {
  assert.equal(anyTime.run(valuePattern(HUGE), "a"), null);
});

/** A configuration's rules, each with as much of a piece as its patterns may come to; no two patterns are the same. */
const manyOf = (piece: string, rules: number) =>
  Array.from({ length: rules }, (_, i) => ({
    name: `rule ${i}`,
    conditions: Array.from({ length: 4 }, (_, j) => ({
      key: "host",
      op: "matches",
      value: `(?i)${piece.repeat(11)}${i}x${j}`,
    })),
  }));

function checked(rules: object[]): { ms: number; faults: string[] } {
  const shape = projectConfigOf(channels);
  const before = process.cpuUsage();
  const { error } = shape.safeParse({ rules });
  const { user, system } = process.cpuUsage(before);
  const faults = (error?.issues ?? []).map(({ path, message }) => `/${path.join("/")}: ${message}`);
  return { ms: (user + system) / 1000, faults };
}

test("classes of Unicode in a whole configuration's patterns cost as much as other pieces, and are as wrong", async () => {
  checked(manyOf("[a-k]", 200));
  await othersFirst();
  const plain = checked(manyOf("[a-k]", 200));
  await othersFirst();
  const dear = checked(manyOf("[^\\pL]", 200));
  assert.deepEqual([plain.faults, dear.faults], [[], []]);
  assert.ok(dear.ms < 5 * plain.ms, `${dear.ms} ms, ${plain.ms} without`);
  await othersFirst();
  const wrong = { key: "host", op: "matches", value: "\\pL\\p{Klingon}" };
  assert.deepEqual(checked([{ name: "wrong", conditions: [wrong] }]).faults, [
    "/rules/0/conditions/0/value: is no pattern: error parsing regexp: invalid character class range: `\\p{Klingon}`",
  ]);
});

test("patterns of a configuration that come to too much together are refused before they are compiled, by name", async () => {
  await othersFirst();
  const { faults } = checked(manyOf("\\pL", 400));
  assert.match(
    faults[0] ?? "",
    /^\/rules\/26\d\/conditions\/\d\/value: comes after patterns of 600000 steps: no more are taken at once$/,
  );
  await othersFirst();
  assert.deepEqual(checked(manyOf("\\pL", 200)).faults, [], "the next is taken again");
});
