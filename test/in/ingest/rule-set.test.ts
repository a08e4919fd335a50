import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ruleReplace } from "../../../src/core/projects/rule.ts";
import {
  admits,
  compileRule,
  createRuleSet,
  type MatchedText,
} from "../../../src/in/ingest/match.ts";

const usual = ruleReplace.parse({});

const rule = (id: number, sources: string[], template_contains: string) =>
  compileRule({
    ...usual,
    match: { ...usual.match, sources, template_contains },
    id,
    project_id: 1,
    name: `r${id}`,
    created_at: 0,
    updated_at: 0,
  });

test("a rule set caches the rules of a source and a template until the template's text changes", () => {
  const rules = [
    rule(1, [], ""),
    rule(2, ["web"], ""),
    rule(3, [], "disk 7"),
    rule(4, ["web"], "disk"),
  ];
  const set = createRuleSet(rules);
  const ids = (source: string, text: MatchedText) =>
    set.of(source, text).map(({ rule: { id } }) => id);
  const root = { text: "disk 7 is full" };
  const first = { root, ownText: "disk 7 is full" };
  const second = { root, ownText: "disk 8 is full" };
  for (let again = 0; again < 2; again++) {
    assert.deepEqual(ids("web", first), [1, 2, 3, 4]);
    assert.deepEqual(ids("db", first), [1, 3]);
  }
  root.text = "disk <*> is full";
  assert.deepEqual(ids("web", first), [1, 2, 3, 4]);
  assert.deepEqual(ids("web", second), [1, 2, 4]);
  // Text that only the template contains counts for each of its messages.
  root.text = "disk 7 or <*> is full";
  assert.deepEqual(ids("web", second), [1, 2, 3, 4]);
});

test("a rule set gives the same with and without its cache", () => {
  const word = fc.constantFrom("a", "b", "ab", "ba", "");
  const some = fc.array(fc.tuple(fc.array(word, { maxLength: 2 }), word), { maxLength: 5 });
  fc.assert(
    fc.property(
      some,
      fc.array(fc.tuple(fc.nat(100), word, fc.boolean()), { maxLength: 200 }),
      (given, looks) => {
        const rules = given.map(([sources, contains], i) => rule(i, sources, contains));
        const set = createRuleSet(rules);
        const root = { text: "" };
        const shapes = ["a", "ba", ""].map((ownText) => ({ root, ownText }));
        for (const [n, text, change] of looks) {
          if (change) root.text = text;
          const shape = shapes[n % shapes.length] as MatchedText;
          const source = n < 4 ? (["a", "b", "ab", "ba"][n] ?? "") : `s${n}`;
          assert.deepEqual(
            set.of(source, shape),
            rules.filter((one) => admits(one, source, shape)),
          );
        }
      },
    ),
  );
});
