import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHttpDate } from "../../../src/ground/kit/http-date.ts";
import {
  afterActionAttempt,
  afterAttempt,
  breakerOpens,
  isTooOld,
  parseRetryAfter,
  signedTimestamp,
  type Verdict,
  waitMs,
} from "../../../src/out/outbox/retry.ts";
import fc from "../../support/property.ts";

const HOUR = 3_600_000;
const later: Verdict = { kind: "later", error: "http 503" };
const now = Date.UTC(2026, 0, 5, 9);

test("the waits are those of the schedule, then an hour each", () => {
  const seconds = Array.from(
    { length: 14 },
    (_, i) => waitMs({ attempts: i + 1, fraction: 0.5 }) / 1_000,
  );
  const published = [2, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 3_600, 3_600, 3_600];
  assert.deepEqual(seconds, published);
  assert.equal(waitMs({ attempts: 1, fraction: 0 }), 1_600);
  assert.equal(waitMs({ attempts: 4, fraction: 0.999999 }), 36_000);
});

test("any jitter stays within a fifth of the schedule", () => {
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(100), fraction, (attempts, part) => {
      const middle = waitMs({ attempts, fraction: 0.5 });
      const wait = waitMs({ attempts, fraction: part });
      assert.ok(Math.abs(wait - middle) <= middle * 0.2 + 0.5);
    }),
  );
});

test("a whole day of failures: some thirty attempts, the last within the day, then failed", () => {
  const attempts = (fraction: number) => {
    let at = now;
    for (let n = 1; ; n++) {
      const next = afterAttempt({ verdict: later, attempts: n, createdAt: now, now: at, fraction });
      if (next.status !== "pending") {
        assert.deepEqual(next, { status: "failed", error: "http 503", disable: false });
        assert.ok(at - now > 22.7 * HOUR && at - now <= 24 * HOUR);
        return n;
      }
      assert.equal(next.error, "http 503");
      at = next.nextAttemptAt;
    }
  };
  assert.equal(attempts(0.5), 33);
  assert.ok(attempts(0) > attempts(0.5));
  assert.ok(attempts(0.999) < attempts(0.5));
});

test("a delivery is too old a moment after its day, not at it", () => {
  assert.equal(isTooOld(now, now + 24 * HOUR), false);
  assert.equal(isTooOld(now, now + 24 * HOUR + 1), true);
  assert.equal(isTooOld(now, now - HOUR), false);
});

test("a verdict that is final ends the delivery, and 410 the endpoint", () => {
  const base = { attempts: 1, createdAt: now, now, fraction: 0.5 };
  const end = (verdict: Verdict) => afterAttempt({ ...base, verdict });
  assert.deepEqual(end({ kind: "delivered", status: 204 }), { status: "delivered" });
  assert.deepEqual(end({ kind: "never", error: "http 410", disable: true }), {
    status: "failed",
    error: "http 410",
    disable: true,
  });
  assert.deepEqual(end({ kind: "never", error: "x" }), {
    status: "failed",
    error: "x",
    disable: false,
  });
});

test("Retry-After in every form it comes in", () => {
  const rows: [string | undefined, number | undefined][] = [
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["3600", HOUR],
    ["3601", HOUR],
    ["1000000000", HOUR],
    ["9".repeat(400), HOUR],
    ["-5", undefined],
    ["1.5", undefined],
    ["0x10", undefined],
    ["1e3", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
    ["Mon, 05 Jan 2026 09:00:60 GMT", 59_000],
    ["Mon, 05 Jan 2026 09:00:61 GMT", undefined],
    ["Mon, 05 Jan 2026 09:60:00 GMT", undefined],
    ["Mon, 05 Jan 2026 24:00:00 GMT", undefined],
    ["Mon, 31 Feb 2026 09:00:00 GMT", undefined],
    ["Mon, 05 Foo 2026 09:00:00 GMT", undefined],
    ["Mon, 05 Jan 0026 09:00:30 GMT", undefined],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["Mon, 05 Jan 2026 09:00:30 GMT", 30_000],
    ["Monday, 05-Jan-26 09:00:30 GMT", 30_000],
    ["Mon Jan  5 09:00:30 2026", 30_000],
    ["Mon, 05 Jan 2026 08:00:00 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", HOUR],
    ["Mon, 99 Jan 2026 09:00:30 GMT", undefined],
    ["2026-01-05T09:00:30Z", undefined],
    ["1 Jan 2027", undefined],
  ];
  for (const [value, expected] of rows) {
    assert.equal(parseRetryAfter(value, { now, date: undefined }), expected, value ?? "absent");
  }
});

test("a date to retry after is read against the receiver's own clock", () => {
  const value = "Mon, 05 Jan 2026 09:00:30 GMT";
  const date = "Mon, 05 Jan 2026 09:00:10 GMT";
  assert.equal(parseRetryAfter(value, { now: 0, date }), 20_000);
  assert.equal(parseRetryAfter(value, { now, date: "now" }), 30_000);
  assert.equal(parseHttpDate("Sun Nov  6 08:49:37 1994"), Date.UTC(1994, 10, 6, 8, 49, 37));
});

test("no Retry-After makes a wait shorter than it says or longer than an hour and a fifth", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.nat().map(String)), fc.nat(40), (value, attempts) => {
      const retryAfterMs = parseRetryAfter(value, { now, date: undefined });
      const wait = waitMs({ attempts, fraction: 0.5, retryAfterMs });
      assert.ok(wait >= Math.max(retryAfterMs ?? 0, 2_000) && wait <= HOUR);
    }),
  );
  assert.equal(waitMs({ attempts: 1, fraction: 0, retryAfterMs: 7_000 }), 7_000);
  assert.equal(waitMs({ attempts: 20, fraction: 0, retryAfterMs: 90_000 }), 90_000);
  assert.equal(waitMs({ attempts: 20, fraction: 0, retryAfterMs: 0 }), 60_000);
  assert.equal(waitMs({ attempts: 2, fraction: 0.5, retryAfterMs: 0 }), 5_000);
});

test("one timestamp for four minutes, then the present", () => {
  assert.equal(signedTimestamp(null, 1_000), 1_000);
  assert.equal(signedTimestamp(1_000, 1_000), 1_000);
  assert.equal(signedTimestamp(1_000, 1_239), 1_000);
  assert.equal(signedTimestamp(1_000, 1_240), 1_240);
  assert.equal(signedTimestamp(1_000, 999), 999);
});

test("the breaker needs many failures and a long streak, both settable", () => {
  const since = now - 24 * HOUR;
  assert.equal(breakerOpens({ failures: 20, failingSince: since, now }), true);
  assert.equal(breakerOpens({ failures: 19, failingSince: since, now }), false);
  assert.equal(breakerOpens({ failures: 5_000, failingSince: since + 1, now }), false);
  assert.equal(breakerOpens({ failures: 20, failingSince: null, now }), false);
  const limits = { minFailures: 3, minSpanMs: 0 };
  assert.equal(breakerOpens({ failures: 3, failingSince: now, now }, limits), true);
  assert.equal(breakerOpens({ failures: 2, failingSince: now, now }, limits), false);
});

test("an action has three attempts, at once, 5 s and 30 s after, and a time-out is final", () => {
  const next = (attempts: number, verdict: Verdict = later) =>
    afterActionAttempt({ verdict, attempts, now });
  assert.deepEqual(next(1), { status: "pending", nextAttemptAt: now + 5_000 });
  assert.deepEqual(next(2), { status: "pending", nextAttemptAt: now + 30_000 });
  assert.deepEqual(next(3), { status: "failed" });
  assert.deepEqual(next(1, { kind: "never", error: "http 404" }), { status: "failed" });
  assert.deepEqual(next(1, { kind: "timed_out", error: "timeout" }), { status: "timed_out" });
  assert.deepEqual(next(2, { kind: "delivered", status: 200 }), { status: "succeeded" });
});

test("what waited here is due again in two seconds, however often it was tried, until it is too old", () => {
  const waiting: Verdict = { kind: "waiting", error: "busy" };
  for (const attempts of [1, 3, 30]) {
    const next = afterAttempt({ verdict: waiting, attempts, createdAt: now, now, fraction: 0.9 });
    assert.deepEqual(next, { status: "pending", nextAttemptAt: now + 2_000, error: "busy" });
    assert.deepEqual(afterActionAttempt({ verdict: waiting, attempts, now }), {
      status: "pending",
      nextAttemptAt: now + 2_000,
    });
  }
  const old = { verdict: waiting, attempts: 1, createdAt: now - 24 * HOUR, now, fraction: 0 };
  assert.deepEqual(afterAttempt(old), { status: "failed", error: "busy", disable: false });
});
