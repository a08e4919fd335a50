import assert from "node:assert/strict";
import { describe } from "node:test";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { titleLine } from "../../../src/ground/kit/text.ts";
import { checkEvent, DEFAULT_LEVEL, type IngestEvent } from "../../../src/in/ingest/event.ts";
import { ingestSchema } from "../../../src/web/http/openapi.ts";
import { inBoth, test } from "../../support/long.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** The hand-written check's result; null when it refuses the event. */
function byHand(text: string): IngestEvent | null {
  try {
    return checkEvent(JSON.parse(text), text);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "invalid_request") return null;
    throw error;
  }
}

const ACTIONS = { firing: "fire", acknowledged: "acknowledge", resolved: "resolve" } as const;

/** The result of the schema that the OpenAPI document is made from. */
function bySchema(text: string): IngestEvent | null {
  const { success, data } = ingestSchema.safeParse(JSON.parse(text));
  if (!success) return null;
  const keys = Object.entries(data.keys ?? {}).map(([key, value]): [string, string] => [
    key,
    String(value),
  ]);
  return {
    message: data.message.toWellFormed().replaceAll("\0", "\uFFFD"),
    title: titleLine(data.title ?? "") || null,
    level: data.level ?? DEFAULT_LEVEL,
    keys: keys.length === 0 ? null : Object.assign(Object.create(null), Object.fromEntries(keys)),
    tags: data.tags === undefined || data.tags.length === 0 ? null : data.tags,
    named:
      data.dedup_key === undefined && data.status === undefined
        ? null
        : {
            action: ACTIONS[data.status ?? "firing"],
            dedupKey: data.dedup_key ?? null,
            instance: null,
            expiresAt: null,
          },
    extra: null,
  };
}

/** Text just within a limit, just above it, or that can't be stored. */
const edgy = (limit: number) =>
  fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.constantFrom("a", "\0", "\ud800", "\udc00", "😀", " ") }),
    fc
      .tuple(fc.constantFrom("a", "😀", "é"), fc.integer({ min: -1, max: 1 }))
      .map(([char, over]) => char.repeat(limit + over)),
  );

const number = fc.oneof(
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom(0, -0, 2 ** 53 - 1, 2 ** 53, -1, 1e21, 0.1),
);
const scalar = fc.oneof(edgy(4096), number, fc.boolean(), fc.constant(null));
const anything = fc.oneof(scalar, fc.jsonValue({ maxDepth: 2 }));
const name = fc.oneof(edgy(256), fc.constantFrom("constructor", "toString", "", "a"));
const nearly = fc.record(
  {
    message: fc.oneof({ weight: 5, arbitrary: edgy(65_536) }, anything),
    title: fc.oneof({ weight: 30, arbitrary: edgy(200) }, anything),
    level: fc.oneof(fc.nat(600), number, anything),
    keys: fc.oneof(
      fc.dictionary(name, fc.oneof({ weight: 5, arbitrary: scalar }, anything), { maxKeys: 4 }),
      fc
        .integer({ min: 126, max: 130 })
        .map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]))),
      anything,
    ),
    tags: fc.oneof(
      fc.array(fc.oneof({ weight: 5, arbitrary: edgy(256) }, anything), { maxLength: 3 }),
      fc.integer({ min: 63, max: 66 }).map((n) => Array(n).fill("t")),
      anything,
    ),
    more: anything,
    dedup_key: fc.oneof({ weight: 5, arbitrary: edgy(512) }, anything),
    status: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom("firing", "acknowledged", "resolved", "Firing") },
      anything,
    ),
  },
  { requiredKeys: [] },
);

describe("the check by hand and the published schema", () => {
  for (const [as, runs] of inBoth(300, 2000))
    as(`both parsers accept and refuse the same of ${runs} events, with the same result`, () => {
      let taken = 0;
      fc.assert(
        fc.property(fc.oneof({ weight: 9, arbitrary: nearly }, anything), (value) => {
          const text = JSON.stringify(value);
          // The validator's library ignores this one name.
          fc.pre(!text.includes("__proto__"));
          const event = byHand(text);
          assert.deepEqual(event, bySchema(text), text.slice(0, 400));
          if (event !== null) taken++;
        }),
        { numRuns: Number(process.env["RUNS"] ?? runs), interruptAfterTimeLimit: 60_000 },
      );
      assert.ok(taken > runs / 40, `${taken} were taken`);
    });

  test("a key named __proto__ is a key", () => {
    const keys = byHand('{"message":"","keys":{"__proto__":"v"}}')?.keys;
    assert.deepEqual(Object.entries(keys ?? {}), [["__proto__", "v"]]);
    assert.equal(byHand('{"message":"","keys":{"__proto__":{}}}'), null);
  });

  test("a refusal names each bad field", () => {
    const bad = '{"title":7,"level":-1,"keys":{"a/~b":{}},"tags":[1,""]}';
    assert.throws(
      () => checkEvent(JSON.parse(bad), bad),
      (error: ServiceError) => {
        const fields = error.details.map(({ field }) => field);
        assert.deepEqual(fields, [
          "/message",
          "/title",
          "/level",
          "/keys/a~1~0b",
          "/tags/0",
          "/tags/1",
        ]);
        return true;
      },
    );
  });
});
