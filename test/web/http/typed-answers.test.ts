import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";
import { route } from "../../../src/web/http/route.ts";

const spec = {
  method: "GET",
  path: "/v1/cellar",
  name: "getCellar",
  tag: "Cellar",
  summary: "For this test",
  plane: "none",
  status: 200,
  answer: z.object({ bottles: z.int() }),
  errors: [],
} as const;

/** What the compiler says of each is the test: `tsc` fails where an expected error isn't one. */
test("a handler gives back what its route promises, or doesn't compile", () => {
  const good = [
    route({ ...spec, handle: () => ({ bottles: 3 }) }),
    route({ ...spec, handle: async () => ({ bottles: 3 }) }),
    route({ ...spec, handle: () => new Response("") }),
    route({ ...spec, status: 204, answer: z.undefined(), handle: () => undefined }),
  ];
  const bad = [
    // @ts-expect-error another type
    route({ ...spec, handle: () => ({ bottles: "3" }) }),
    // @ts-expect-error a field is missing
    route({ ...spec, handle: async () => ({}) }),
    // @ts-expect-error null is no number
    route({ ...spec, handle: () => ({ bottles: null }) }),
    // @ts-expect-error nothing at all
    route({ ...spec, handle: () => undefined }),
  ];
  assert.equal(good.length, bad.length);
});
