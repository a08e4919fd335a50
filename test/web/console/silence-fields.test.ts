import assert from "node:assert/strict";
import { test } from "node:test";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import {
  fieldsOfMatch,
  readPairs,
  writeOfFields,
} from "../../../src/web/console/silences/fields.ts";
import fc from "../../support/property.ts";

/** A silence as the fields of its form, and back: pure. */

const at = (text: string) => Date.parse(text) / 1000;
const call = (now: number, zone = "Europe/Berlin") => ({ now, look: { zone } as never });

test("what a silence takes is the same after its form, whatever its names hold", () => {
  const name = fc.string({ minLength: 1, maxLength: 12 });
  const odd = fc.constantFrom("a, b", " lead", "x=y", "a\nb", '"', "<*>", "__proto__", "1");
  const text = fc.oneof(name, odd);
  const match = fc.record({
    rule: fc.constantFrom(null, "errors", "a, b", "disk of db1"),
    template_id: fc.constantFrom(null, "512807f126575a67"),
    identifiers: fc.dictionary(text, text, { maxKeys: 3 }),
    sources: fc.uniqueArray(text, { maxLength: 3 }),
    below_level: fc.constantFrom(null, 300, 500),
  });
  const label = fc.record({
    key: text.filter((one) => one !== ""),
    op: fc.constantFrom("eq", "neq", "in", "not_in"),
    value: text,
  });
  const labels = fc.array(label, { maxLength: 3 });
  fc.assert(
    fc.property(match, labels, (wanted, said) => {
      const write = silenceWrite.parse({
        project: "shop",
        match: wanted,
        ends_at: 1,
        reason: "why",
        labels: said.map(({ key, op, value }) => ({
          key,
          op,
          value: op.endsWith("in") ? [value] : value,
        })),
        conditions: [{ key: "k", op: "in", value: ["a", "b"] }],
      });
      const fields = fieldsOfMatch(write);
      fields.set("reason", "why");
      // As a browser sends it.
      const back = writeOfFields(call(1_800_000_000), new URLSearchParams(fields.toString()));
      assert.deepEqual(
        [back.project, back.match, back.conditions, back.labels],
        [write.project, write.match, write.conditions, write.labels],
      );
    }),
  );
});

test("until when is counted from now, or by the reader's clock, summer time or not", () => {
  const ends = (until: string, now: string, more: Record<string, string> = {}) =>
    writeOfFields(
      call(at(now)),
      new URLSearchParams({ "match/rule": "errors", reason: "why", until, ...more }),
    );
  const noon = "2026-11-22T11:00:00Z";
  assert.equal(ends("1h", noon).ends_at, at("2026-11-22T12:00:00Z"));
  assert.equal(ends("7d", noon).ends_at, at("2026-11-29T11:00:00Z"));
  assert.equal(ends("tomorrow", noon).ends_at, at("2026-11-23T09:00:00+01:00"));
  // Past midnight in Berlin it is the day after.
  assert.equal(ends("tomorrow", "2026-11-22T23:30:00Z").ends_at, at("2026-11-24T09:00:00+01:00"));
  // The night on which clocks go forward.
  assert.equal(ends("tomorrow", "2026-03-28T11:00:00Z").ends_at, at("2026-03-29T09:00:00+02:00"));
  const said = ends("say", noon);
  assert.deepEqual([said.ends_at, said.tell_author], [at("2026-11-22T23:00:00Z"), true]);
  const own = ends("at", noon, { ends_at: "2026-11-22T18:30" });
  assert.deepEqual([own.ends_at, own.tell_author], [at("2026-11-22T18:30:00+01:00"), false]);
  assert.throws(() => ends("at", noon, { ends_at: "soon" }), /\/ends_at/);
  assert.throws(() => ends("never", noon), /\/until/);
});

test("everything is silenced only where that is ticked, and a tick beside what narrows counts for nothing", () => {
  const all = (fields: Record<string, string>) =>
    writeOfFields(call(1_800_000_000), new URLSearchParams({ reason: "why", ...fields })).all;
  assert.equal(all({ all: "on" }), true);
  assert.equal(all({}), false);
  assert.equal(all({ all: "on", "match/rule": "errors" }), false);
});

test("no pair that is typed is lost: a silence would take more than was said", () => {
  for (const text of ["constructor=x", "a=1, b=2", "a==", "a=b=c"]) {
    const typed = text.split(", ").map((pair) => /^([^=]+)=(.*)$/.exec(pair)?.slice(1));
    assert.deepEqual(Object.entries(readPairs(text)), typed);
    const fields = new URLSearchParams({ "match/rule": "errors", reason: "why" });
    fields.set("match/identifiers", text);
    const { identifiers } = writeOfFields(call(1_800_000_000), fields).match;
    assert.deepEqual(Object.entries(identifiers), typed, text);
  }
  for (const text of ["__proto__=x", "a=1, __proto__=x"])
    assert.throws(() => readPairs(text), /can't have that name/);
  assert.throws(() => readPairs("acme"), /must be like provider=acme/);
});
