import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { check } from "../../../src/ground/kit/check.ts";
import type { ServiceError } from "../../../src/ground/kit/errors.ts";

const schema = z.strictObject({
  all: z.array(z.strictObject({ names: z.record(z.string(), z.string()) })).default([]),
  free: z.unknown().optional(),
});

test("a name that the schema's library passes over in silence is refused by its place", () => {
  const body = JSON.parse('{"all":[{"names":{"a":"b"}},{"names":{"__proto__":"x","a":"b"}}]}');
  assert.throws(
    () => check(schema, body, "body"),
    (error: ServiceError) => {
      assert.equal(error.code, "invalid_request");
      const details = [{ field: "/all/1/names/__proto__", reason: "can't have that name" }];
      assert.deepEqual(error.details, details);
      return true;
    },
  );
  const top = JSON.parse('{"__proto__":1}');
  assert.throws(() => check(schema, top, "body"), {
    details: [{ field: "/__proto__", reason: "unknown field" }],
  });
});

test("where it is kept, it is taken", () => {
  const body = JSON.parse(
    '{"free":{"__proto__":"x","constructor":{"a":1}},"all":[{"names":{"constructor":"y"}}]}',
  );
  const found = check(schema, body, "body");
  assert.equal(JSON.stringify(found), JSON.stringify({ all: body.all, free: body.free }));
});
