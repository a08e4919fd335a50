import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ruleCreate } from "../../../src/core/projects/rule.ts";
import { fieldsOfRule } from "../../../src/web/console/rules/fields.ts";
import { bodyOfFields } from "../../../src/web/console/rules/read-fields.ts";
import { ruleForm } from "../../../src/web/console/rules/rule-form.ts";
import { editedFields } from "../../../src/web/console/ui/edited-rows.ts";
import { filledOf } from "../../../src/web/console/ui/form.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { sentBy } from "../../support/sent-by.ts";

const around = {
  project: { id: 1, name: "shop", version: 1, createdAt: 0, defaultLadderId: null },
  people: [{ id: "a1", name: "Ann" }],
  schedules: ["primary"],
  sources: ["web"],
  ladders: [],
  actions: [{ id: "0123456789abcdef", name: "restart", enabled: true }],
  nameOf: (id: string) => id,
  faces: () => ({
    id: "a1",
    name: "Ann",
    initials: "AN",
    hue: 1,
    proof: "never" as const,
    provedAt: null,
  }),
  onCall: () => ["a1"],
  reach: () => ({ dot: "shown" as const, words: "ntfy" }),
};

function pageOf(fields: URLSearchParams): string {
  const filled = filledOf({ returned: null }, "/p/shop/rules/x", fields);
  return ruleForm(
    {
      base: "",
      now: 0,
      who: { accountId: "a2" } as never,
      look: { zone: "UTC" } as never,
      leads: () => true,
    },
    { filled, around, saved: fields.get("name"), read: "r", keepsLines: true },
  ).markup;
}

const storable = (max: number, min = 0) =>
  fc
    .string({ unit: "grapheme-composite", minLength: min, maxLength: max })
    .map((text) => text.replaceAll("\0", ""))
    .filter((text) => text.length >= min);
const anyText = (max: number, min = 0) =>
  fc.oneof(
    storable(max, min),
    fc.constantFrom("a,b", " a", "b ", "one\ntwo", "\r", '"x"', "[1]", "<b>", ",", "true", "5"),
    fc.constantFrom(...XSS_VECTORS.map((vector) => vector.replaceAll("\0", "").slice(0, 100))),
  );
const minutes = fc.integer({ min: 0, max: 525_600 });
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3 });
const name = anyText(40, 1)
  .map((text) => text.replace(/[/\p{Cc}]/gu, "").trim())
  .filter((text) => text !== "" && text !== "." && text !== "..");

const condition = fc.oneof(
  fc.record({
    key: anyText(20, 1),
    op: fc.constantFrom("eq", "neq", "gte", "lte"),
    value: fc.oneof(
      anyText(40),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
    ),
  }),
  fc.record({
    key: anyText(20, 1),
    op: fc.constantFrom("in", "not_in"),
    value: fc.array(anyText(20), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    key: anyText(20, 1),
    op: fc.constantFrom("matches", "not_matches"),
    value: fc.constantFrom("a.*", "[a-z]+", "", "a\nb", "x,y"),
  }),
);

const storedRule = fc.record(
  {
    name,
    match: fc.record({
      min_level: fc.oneof(fc.constant(null), fc.constantFrom(0, 200, 400, 430, 500), fc.nat()),
      sources: few(anyText(20, 1)),
      tags: few(anyText(20, 1)),
      template_contains: anyText(100),
    }),
    conditions: few(condition),
    fire_after: fc.record({
      count: fc.integer({ min: 1, max: 1_000_000 }),
      distinct_sources: fc.integer({ min: 1, max: 100_000 }),
      window_minutes: fc.integer({ min: 1, max: 525_600 }),
    }),
    dedup_window_minutes: minutes,
    auto_resolve_quiet_minutes: minutes,
    renotify_minutes: minutes,
    max_renotify: fc.nat(1_000_000),
    ends_with_source: fc.boolean(),
    investigate: fc.boolean(),
    reopen_within_seconds: fc.nat(86_400),
    ack_expires_minutes: minutes,
    max_open: fc.nat(100_000),
    silenced_by: few(fc.record({ rule: anyText(20, 1), equal: few(anyText(20, 1)) })),
    identifier_keys: few(anyText(20, 1)),
    runbook_url: fc.constantFrom("", "https://wiki.example.org/a?b=<c>&d"),
    actions: fc.oneof(
      fc.constant(null),
      few(fc.constantFrom("0123456789abcdef", "fedcba9876543210")),
    ),
    escalations: few(
      fc.record({
        accounts: few(fc.constantFrom("a1", "b2", "email:c@d.e")),
        schedules: few(fc.constantFrom("primary", "ops/night")),
        after_minutes: minutes,
        repeat_minutes: minutes,
      }),
    ),
  },
  { noNullPrototype: true },
);

/** With steps of its own, or with a ladder of the tenant in their place. */
const anyRule = fc
  .tuple(storedRule, fc.option(fc.constantFrom("first line", "night"), { nil: null }))
  .map(([rule, ladder]) => ({
    ...rule,
    ladder,
    escalations: ladder === null ? rule.escalations : [],
  }));

test("any stored rule shown in the form and posted unchanged is the same rule", () => {
  fc.assert(
    fc.property(anyRule, (input) => {
      const rule = ruleCreate.parse(input);
      const sent = sentBy(pageOf(fieldsOfRule(rule)));
      assert.equal(
        JSON.stringify(sorted(ruleCreate.parse(bodyOfFields(sent)))),
        JSON.stringify(sorted(rule)),
      );
      // A row added and taken away again, and what the box draws of what was sent, change nothing.
      const more = editedFields(with_(sent, "do", "add-cond"));
      assert.equal(
        JSON.stringify(sorted(ruleCreate.parse(bodyOfFields(sentBy(pageOf(more)))))),
        JSON.stringify(sorted(rule)),
      );
    }),
    { numRuns: 60 },
  );
});

test("any rule as JSON and back in the form is the same rule", () => {
  fc.assert(
    fc.property(anyRule, (input) => {
      const rule = ruleCreate.parse(input);
      const fields = new URLSearchParams({ json: JSON.stringify(rule, null, 2), name: rule.name });
      const sent = sentBy(pageOf(fields));
      assert.equal(
        JSON.stringify(sorted(ruleCreate.parse(bodyOfFields(sent)))),
        JSON.stringify(sorted(rule)),
      );
    }),
    { numRuns: 60 },
  );
});

test("a number stays a number, text stays text, and what a person types anew is read as they mean it", () => {
  const typed = (op: string, value: string, as = "") => {
    const form = new URLSearchParams({
      cond: "0",
      c0_key: "k",
      c0_op: op,
      c0_value: value,
      c0_as: as,
    });
    const [first] = bodyOfFields(form)["conditions"] as { value: unknown }[];
    return first?.value;
  };
  assert.deepEqual(
    [
      typed("gte", "2000"),
      typed("eq", "2000"),
      typed("gte", "2000", "text"),
      typed("eq", "5", "number"),
    ],
    [2000, "2000", "2000", 5],
  );
  assert.deepEqual(typed("in", "acme, globex"), ["acme", "globex"]);
  assert.equal(
    typed("eq", "five", "number"),
    "five",
    "what was a number and is none any more is text",
  );
});

const with_ = (form: URLSearchParams, key: string, value: string): URLSearchParams => {
  const more = new URLSearchParams(form);
  more.set(key, value);
  return more;
};

/** Keys in one order: only what they hold is compared. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}
