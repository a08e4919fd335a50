import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { isSignedBy, readSignatureHeaders, signedHeaders } from "../../src/ground/kit/sign.ts";
import { needs } from "../support/commands.ts";
import { blocks, documents, vector } from "./document.ts";

test("the commands of every document are shell", needs("bash"), () => {
  for (const document of documents) {
    const input = blocks(document, "sh").join("\n");
    const { status, stderr } = spawnSync("bash", ["-n"], { input, encoding: "utf8" });
    assert.equal(status, 0, `${document}: ${stderr}`);
  }
});

test("the delivery that the page on signatures shows is what a box would send", () => {
  const { secret, body, timestamp, signature, eventId, ...standard } = vector();
  assert.deepEqual(signedHeaders({ secret, eventId, timestamp: Number(timestamp), body }), {
    "X-Service-Timestamp": timestamp,
    "X-Service-Signature": signature,
    "webhook-id": eventId,
    "webhook-timestamp": standard.webhookTimestamp,
    "webhook-signature": standard.webhookSignature,
  });
  const event = JSON.parse(body);
  assert.deepEqual([event.event_id, String(event.timestamp)], [eventId, timestamp]);
  assert.ok(
    Buffer.byteLength(body) > body.length,
    "it shows that bytes are signed, not characters",
  );
});

test("that delivery passes the checks of others", needs("openssl"), () => {
  const { secret, body, timestamp, signature, eventId, webhookSignature } = vector();
  const headers = readSignatureHeaders(timestamp, signature);
  assert.ok(headers !== null && isSignedBy(secret, headers, body));
  const signed = new Webhook(secret).sign(eventId, new Date(Number(timestamp) * 1000), body);
  assert.equal(signed, webhookSignature);
  const openssl = spawnSync("openssl", ["dgst", "-sha256", "-hmac", secret], {
    input: `${timestamp}.${body}`,
    encoding: "utf8",
  });
  if (openssl.status === 0) assert.match(openssl.stdout, new RegExp(`${signature}\n$`));
});

test("the check that is shown takes that delivery, and none that is changed, late or unsigned", async () => {
  const source = blocks("docs/how-to/check-signatures.md", "js")[0] ?? "";
  const { isFromBox } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const { secret, body, timestamp, signature } = vector();
  const headers = { "x-service-timestamp": timestamp, "x-service-signature": signature };
  const now = Number(timestamp);
  assert.equal(isFromBox(secret, headers, body, now + 300), true);
  assert.equal(isFromBox(secret, headers, Buffer.from(body), now), true);
  assert.equal(isFromBox(secret, headers, `${body} `, now), false);
  assert.equal(isFromBox(`${secret}x`, headers, body, now), false);
  assert.equal(isFromBox(secret, headers, body, now + 301), false);
  assert.equal(isFromBox(secret, {}, body, now), false);
});
