import assert from "node:assert/strict";
import { test } from "node:test";
import { keyMaker, rekey } from "../../../src/in/ingest/alert-key.ts";
import fc from "../../support/property.ts";

const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom("", "1", "1=a", "a1=b", ":", "0=", "x".repeat(120)),
);

test("two events have one key exactly where all identifier values are equal", () => {
  const keyOf = keyMaker(7, ["a", "b"]);
  const keys = fc.record({ a: text, b: text });
  fc.assert(
    fc.property(keys, keys, (one, other) => {
      const same = one.a === other.a && one.b === other.b;
      assert.equal(keyOf("t", one) === keyOf("t", other), same);
    }),
    { numRuns: 2000 },
  );
});

test("a missing identifier is the empty string, and no identifiers need no keys", () => {
  assert.equal(keyMaker(7, ["a"])("t", null), keyMaker(7, ["a"])("t", { a: "" }));
  const plain = keyMaker(7, []);
  for (let i = 0; i < 2500; i++) assert.equal(plain(`t${i}`, { a: "x" }), `7:t${i}`);
});

test("a key moves to another template with its values, and only its own", () => {
  const keyOf = keyMaker(7, ["a"]);
  assert.equal(rekey(keyOf("young", { a: "x" }), 7, "young", "old"), keyOf("old", { a: "x" }));
  assert.equal(rekey("7:young", 7, "young", "old"), "7:old");
  assert.equal(rekey("7:younger", 7, "young", "old"), "7:younger");
  assert.equal(rekey("17:young", 7, "young", "old"), "17:young");
});
