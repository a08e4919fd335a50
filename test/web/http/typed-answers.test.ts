import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";
import { inTenant, routesIn } from "../../../src/web/http/scope.ts";

const cellar = routesIn(inTenant, { at: "/cellar/{shelf}", tag: "Cellar" });
const facts = { name: "getCellar", summary: "For this test" };
const answer = z.object({ bottles: z.int() });

/** What the compiler says of each is the test: `tsc` fails where an expected error isn't one. */
test("a handler gives back what its route promises, or doesn't compile", () => {
  const good = [
    cellar.get("", { ...facts, answer, read: () => ({ bottles: 3 }) }),
    cellar.get("", { ...facts, answer, handle: async () => ({ bottles: 3 }) }),
    cellar.get("", { ...facts, answer, handle: () => new Response("") }),
    cellar.put("", { ...facts, status: 204, answer: z.undefined(), write: () => undefined }),
    cellar.get("", { ...facts, answer, read: (_, { params }) => ({ bottles: +params.shelf }) }),
  ];
  const bad = [
    // @ts-expect-error another type
    cellar.get("", { ...facts, answer, read: () => ({ bottles: "3" }) }),
    // @ts-expect-error a field is missing
    cellar.get("", { ...facts, answer, handle: async () => ({}) }),
    // @ts-expect-error null is no number
    cellar.put("", { ...facts, answer, write: () => ({ bottles: null }) }),
    // @ts-expect-error nothing at all
    cellar.get("", { ...facts, answer, handle: () => undefined }),
    // @ts-expect-error its path has no such part
    cellar.get("", { ...facts, answer, read: (_, { params }) => ({ bottles: +params.row }) }),
  ];
  assert.equal(good.length, bad.length);
});
