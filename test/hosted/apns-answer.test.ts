import assert from "node:assert/strict";
import { test } from "node:test";
import { apnsVerdict, readApnsBody, readRetryAfter } from "../../src/hosted/apns-answer.ts";

const kindOf = (status: number, reason = "") =>
  apnsVerdict({ status, reason, timestamp: null, retryAfter: null }).kind;

/** Apple's table of answers, with the verdict of each. */
const documented: [number, string, string][] = [
  [400, "BadCollapseId", "misconfigured"],
  [400, "BadDeviceToken", "bad_token"],
  [400, "BadExpirationDate", "misconfigured"],
  [400, "BadMessageId", "misconfigured"],
  [400, "BadPriority", "misconfigured"],
  [400, "BadTopic", "misconfigured"],
  [400, "DeviceTokenNotForTopic", "bad_token"],
  [400, "DuplicateHeaders", "misconfigured"],
  [400, "IdleTimeout", "retry"],
  [400, "InvalidPushType", "misconfigured"],
  [400, "MissingDeviceToken", "misconfigured"],
  [400, "MissingTopic", "misconfigured"],
  [400, "PayloadEmpty", "misconfigured"],
  [400, "TopicDisallowed", "misconfigured"],
  [403, "BadCertificate", "misconfigured"],
  [403, "BadCertificateEnvironment", "misconfigured"],
  [403, "BadEnvironmentKeyIdInToken", "misconfigured"],
  [403, "ExpiredProviderToken", "expired_token"],
  [403, "Forbidden", "misconfigured"],
  [403, "InvalidProviderToken", "misconfigured"],
  [403, "MissingProviderToken", "misconfigured"],
  [403, "UnrelatedKeyIdInToken", "misconfigured"],
  [404, "BadPath", "misconfigured"],
  [405, "MethodNotAllowed", "misconfigured"],
  [410, "ExpiredToken", "gone"],
  [410, "Unregistered", "gone"],
  [413, "PayloadTooLarge", "misconfigured"],
  [429, "TooManyProviderTokenUpdates", "retry"],
  [429, "TooManyRequests", "retry"],
  [500, "InternalServerError", "retry"],
  [503, "ServiceUnavailable", "retry"],
  [503, "Shutdown", "retry"],
];

test("each documented answer of APNs becomes its verdict", () => {
  assert.equal(kindOf(200), "delivered");
  for (const [status, reason, kind] of documented)
    assert.equal(kindOf(status, reason), kind, reason);
});

test("an unknown reason of APNs is judged by its status, also one like an inherited property's name", () => {
  for (const reason of ["", "NewReason", "constructor", "__proto__"]) {
    assert.equal(kindOf(400, reason), "misconfigured");
    assert.equal(kindOf(403, reason), "misconfigured");
    assert.equal(kindOf(410, reason), "gone");
    assert.equal(kindOf(429, reason), "retry");
    assert.equal(kindOf(502, reason), "retry");
    assert.equal(kindOf(302, reason), "retry");
  }
});

test("the time of a 410 and the wait of a 429 are kept", () => {
  const gone = {
    status: 410,
    reason: "Unregistered",
    timestamp: 1_700_000_000_123,
    retryAfter: null,
  };
  assert.deepEqual(apnsVerdict(gone), { kind: "gone", at: 1_700_000_000_123 });
  const busy = { status: 429, reason: "TooManyRequests", timestamp: null, retryAfter: 30 };
  const why = "APNs answered 429 TooManyRequests";
  assert.deepEqual(apnsVerdict(busy), { kind: "retry", why, retryAfter: 30 });
});

test("an APNs answer with any body is read without an error", () => {
  const nothing = { reason: "", timestamp: null };
  for (const body of [
    "",
    "no json",
    "null",
    "7",
    '"x"',
    "[]",
    "{}",
    '{"reason":5,"timestamp":"x"}',
  ]) {
    assert.deepEqual(readApnsBody(body), nothing);
  }
  assert.deepEqual(readApnsBody('{"reason":"Unregistered","timestamp":5}'), {
    reason: "Unregistered",
    timestamp: 5,
  });
});

test("Retry-After is read only in seconds", () => {
  assert.equal(readRetryAfter("12"), 12);
  for (const header of [undefined, "", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", ["1"]]) {
    assert.equal(readRetryAfter(header), null);
  }
});
