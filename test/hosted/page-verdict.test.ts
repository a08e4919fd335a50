import assert from "node:assert/strict";
import { test } from "node:test";
import type { PushResult } from "../../src/hosted/apns-answer.ts";
import { judgePage } from "../../src/hosted/page-verdict.ts";
import fc from "../support/property.ts";

const results: Record<string, PushResult> = {
  delivered: { kind: "delivered" },
  gone: { kind: "gone", at: 5 },
  bad: { kind: "bad_token", why: "bad" },
  retry: { kind: "retry", why: "busy", retryAfter: 3 },
  fault: { kind: "misconfigured", why: "key" },
  withdrawn: { kind: "withdrawn" },
};

function judged(kinds: string, earlier = 0) {
  const pushed = kinds
    .split(" ")
    .filter((kind) => kind !== "")
    .map((kind, index) => ({ token: `${kind}${index}`, result: results[kind] as PushResult }));
  const verdict = judgePage(pushed, earlier);
  return `${verdict.outcome.kind} reached:${verdict.reached} gone:${verdict.gone.map((one) => one.token)} bad:${verdict.bad}`;
}

test("the results of its pushes make a page's outcome", () => {
  const table: [string, number, string][] = [
    ["", 0, "paged reached: gone: bad:"],
    ["delivered delivered", 0, "paged reached:delivered0,delivered1 gone: bad:"],
    ["delivered retry", 0, "failed reached:delivered0 gone: bad:"],
    ["retry fault", 0, "unavailable reached: gone: bad:"],
    ["delivered gone", 0, "paged reached:delivered0 gone:gone1 bad:"],
    ["gone", 0, "paged reached: gone:gone0 bad:"],
    ["withdrawn", 0, "paged reached: gone: bad:"],
    // A single bad token is set aside; several, and nothing else, are a fault of the configuration.
    ["bad", 0, "paged reached: gone: bad:bad0"],
    ["bad bad", 0, "unavailable reached: gone: bad:"],
    ["bad bad", 1, "paged reached: gone: bad:bad0,bad1"],
    ["bad bad delivered", 0, "paged reached:delivered2 gone: bad:bad0,bad1"],
    ["bad bad gone", 0, "paged reached: gone:gone2 bad:bad0,bad1"],
    // While a device is untried, the cause isn't known.
    ["bad bad retry", 0, "failed reached: gone: bad:"],
    ["bad retry delivered", 0, "failed reached:delivered2 gone: bad:bad0"],
  ];
  for (const [kinds, earlier, expected] of table) {
    assert.equal(judged(kinds, earlier), expected, `${kinds} after ${earlier}`);
  }
});

test("a page passes on the longest Retry-After of its pushes", () => {
  const waits = [null, 7, 3].map((retryAfter, index) => ({
    token: String(index),
    result: { kind: "retry" as const, why: "busy", retryAfter },
  }));
  assert.deepEqual(judgePage(waits, 0).outcome, { kind: "failed", why: "busy", retryAfter: 7 });
});

test("a page is over only when a retry could reach no other phone", () => {
  const kind = fc.constantFrom(...Object.keys(results));
  fc.assert(
    fc.property(fc.array(kind, { maxLength: 6 }), fc.nat(2), (kinds, earlier) => {
      const pushed = kinds.map((one, index) => ({
        token: String(index),
        result: results[one] as PushResult,
      }));
      const { outcome } = judgePage(pushed, earlier);
      const open = kinds.some((one) => one === "retry" || one === "fault");
      if (open) assert.notEqual(outcome.kind, "paged");
    }),
  );
});
