import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { systemClock, unixSeconds } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import {
  isSignedBy,
  isSkewed,
  mintWebhookSecret,
  readSignatureHeaders,
  signature,
  signedHeaders,
} from "../../../src/ground/kit/sign.ts";
import fc from "../../support/property.ts";

const body = JSON.stringify({ event: "alert.opened", last_message: "žluť 💥" });
const stripe = new Stripe("sk_test_unused");

function signed(secret: string, timestamp = unixSeconds(systemClock)) {
  return signedHeaders({ secret, eventId: "evt_1", timestamp, body });
}

function stripeHeader(headers: Record<string, string>): string {
  return `t=${headers["X-Service-Timestamp"]},v1=${headers["X-Service-Signature"]}`;
}

test("the signature is the published one", () => {
  // `printf '1700000000.{}' | openssl dgst -sha256 -hmac secret`.
  assert.equal(
    signature("secret", 1_700_000_000, "{}"),
    "b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163",
  );
});

test("a Stripe library accepts the service headers, and nothing that was changed", async () => {
  for (const secret of [mintWebhookSecret(systemRandom), "correct horse", "žluť"]) {
    const header = stripeHeader(signed(secret));
    const event = await stripe.webhooks.constructEventAsync(body, header, secret);
    assert.deepEqual(event, JSON.parse(body));
    for (const [wrongBody, wrongSecret] of [
      [`${body} `, secret],
      [body, `${secret}x`],
    ] as const) {
      await assert.rejects(stripe.webhooks.constructEventAsync(wrongBody, header, wrongSecret));
    }
  }
});

test("a Standard Webhooks library accepts a minted secret's headers, and nothing changed", () => {
  const secret = mintWebhookSecret(systemRandom);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const headers = signed(secret);
  assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  assert.throws(() => new Webhook(secret).verify(`${body} `, headers));
  assert.throws(() => new Webhook(mintWebhookSecret(systemRandom)).verify(body, headers));
  assert.throws(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "evt_2" }));
});

test("any other secret is a Standard Webhooks key as it stands", () => {
  const raw = new Webhook("correct horse", { format: "raw" });
  assert.deepEqual(raw.verify(body, signed("correct horse")), JSON.parse(body));
  assert.match(signed("whsec_")["webhook-signature"] ?? "", /^v1,[\w+/]{43}=$/);
});

test("what is signed verifies, as text and as bytes; whatever is changed doesn't", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.string({ unit: "grapheme" }), (secret, at, text) => {
      const sent = signedHeaders({ secret, eventId: "e", timestamp: at, body: text });
      const headers = readSignatureHeaders(
        sent["X-Service-Timestamp"],
        sent["X-Service-Signature"],
      );
      assert.ok(headers !== null);
      assert.equal(headers.timestamp, at);
      assert.equal(isSignedBy(secret, headers, text), true);
      assert.equal(isSignedBy(secret, headers, Buffer.from(text)), true);
      assert.equal(isSignedBy(secret, headers, `${text}.`), false);
      assert.equal(isSignedBy(`${secret}x`, headers, text), false);
      assert.equal(isSignedBy(secret, { ...headers, timestampText: `${at + 1}` }, text), false);
    }),
  );
});

test("headers of another shape are told before anything is computed", () => {
  const good = "a".repeat(64);
  assert.ok(readSignatureHeaders("1700000000", good));
  const timestamps = [undefined, "", " 1", "1 ", "-1", "1.5", "1e9", "9".repeat(13), "１"];
  for (const bad of timestamps) assert.equal(readSignatureHeaders(bad, good), null, String(bad));
  const signatures = [
    undefined,
    "",
    "a".repeat(63),
    "a".repeat(65),
    "A".repeat(64),
    "g".repeat(64),
  ];
  for (const bad of signatures) assert.equal(readSignatureHeaders("1", bad), null, String(bad));
});

test("five minutes either way are near enough, a second more isn't", () => {
  for (const [at, skewed] of [
    [700, false],
    [699, true],
    [1_300, false],
    [1_301, true],
  ] as const) {
    assert.equal(isSkewed(at, 1_000), skewed, String(at));
  }
});
